#include "sfumato/fit/evaluate.hpp"

#include <algorithm>
#include <cmath>

#include "sfumato/fit/noisy_sum.hpp"
#include "sfumato/fit/sensitivity.hpp"

namespace sfumato {

using Eigen::Index;

PrivateR2 private_r2(double loss_sum, double y_sum, double y2_sum, double n, double loss_bound,
                     double target_bound, double noise_std) {
  const double y2 = target_bound * target_bound;
  const double mean_part = target_bound * y_sum;
  const double v = y2 * y2_sum - mean_part * mean_part / n;
  const double loss = loss_bound * loss_sum;
  const double r2 = 1.0 - loss / v;
  const double by_loss = -loss_bound / v;
  const double by_y = -2.0 * loss * y2 * y_sum / (n * v * v);
  const double by_y2 = loss * y2 / (v * v);
  const double privacy = noise_std * std::sqrt(by_loss * by_loss + by_y * by_y + by_y2 * by_y2);
  const double sampling = std::max(0.0, 4.0 * r2 * (1.0 - r2) * (1.0 - r2) / n);
  const double v_noise = noise_std * y2 * std::sqrt(1.0 + 4.0 * y_sum * y_sum / (n * n));
  return {r2, privacy, std::sqrt(privacy * privacy + sampling), v, v > 3.0 * v_noise};
}

namespace {

HeldOut of_quantity(const BoundedRows& rows, const PublicTable& table, const Evaluation& of,
                    ReleaseBits& bits) {
  // Errors and distances from the centre above 0.6 Y count as that: a larger bound would drown small ones in noise, and so large ones are rare in
  // a fit of any use.
  const double bound = 0.6 * table.target_bound(), square = bound * bound;
  // (error^2, distance, distance^2, 1), each at most 1 in size: the number of rows is private, too, and noisy. Null records have all features 0.
  const NoisySum found = noisy_sum(
      [&](Index i, Eigen::Ref<Eigen::ArrayXd> out) {
        if (rows.features.row(i).isZero(0.0)) return;
        const double y = std::clamp(rows.target(i) - of.centre, -bound, bound);
        const double residual = rows.target(i) - rows.features.row(i).dot(of.parameters.col(0));
        out << std::min(residual * residual / square, 1.0), y / bound, y * y / square, 1.0;
      },
      {rows.features.rows(), 4, 2.0, multiplier_of_mu(of.mu, table.relation),
       static_cast<double>(table.rows)},
      of.mode, bits);
  const double n = std::max(1.0, found.sum(3));
  const PrivateR2 r2 =
      private_r2(found.sum(0), found.sum(1), found.sum(2), n, square, bound, found.noise_std);
  HeldOut held{n, std::min(1.0, r2.r2), r2.error, r2.resolved, {}};  // noise may exceed 1
  // Two deviations of its noise on top: where few rows were held out intervals are wider, never too narrow. The number of rows must be known.
  if (n > 10.0 * found.noise_std) {
    held.residual_variance = square * (std::max(0.0, found.sum(0)) + 2.0 * found.noise_std) / n;
  }
  return held;
}

HeldOut of_classes(const BoundedRows& rows, const PublicTable& table, const Evaluation& of,
                   ReleaseBits& bits) {
  const bool two = of.model == FitModel::logistic;
  const NoisySum found = noisy_sum(
      [&](Index i, Eigen::Ref<Eigen::ArrayXd> out) {
        if (rows.target(i) < 0.0) return;
        const Eigen::RowVectorXd scores = rows.features.row(i) * of.parameters;
        Index guess = scores(0) > 0.0 ? 1 : 0;
        if (!two) scores.maxCoeff(&guess);
        out(0) = guess == static_cast<Index>(rows.target(i)) ? 1.0 : 0.0;
        out(1) = 1.0;
      },
      {rows.features.rows(), 2, std::sqrt(2.0), multiplier_of_mu(of.mu, table.relation),
       static_cast<double>(table.rows)},
      of.mode, bits);
  const double n = std::max(1.0, found.sum(1));
  const double share = std::clamp(found.sum(0) / n, 0.0, 1.0);
  // The quotient of two noisy sums moves by (d hits - share d n) / n.
  const double privacy = found.noise_std * std::sqrt(1.0 + share * share) / n;
  HeldOut held{n,
               share,
               std::sqrt(share * (1.0 - share) / n + privacy * privacy),
               n > 10.0 * found.noise_std,
               {}};
  return held;
}

}  // namespace

HeldOut evaluate(const BoundedRows& rows, const PublicTable& table, const Evaluation& of,
                 ReleaseBits& bits) {
  return of.model == FitModel::ridge ? of_quantity(rows, table, of, bits)
                                     : of_classes(rows, table, of, bits);
}

}  // namespace sfumato
