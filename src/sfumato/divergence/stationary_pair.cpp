#include "sfumato/divergence/stationary_pair.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "sfumato/core/check.hpp"
#include "sfumato/core/infinity.hpp"
#include "sfumato/core/parallel.hpp"
#include "sfumato/divergence/radial_distribution.hpp"

namespace sfumato {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();
constexpr double kUp = 1.0 + 1e-10;  // over the rounding of a few hundred sums and products
constexpr double kLittle =
    0.02;  // a change of the distribution that one panel in t represents well
constexpr int kPanels = 8;

/// s(z) - y.
double residual(double z, double label) {
  return label > 0.5 ? -1.0 / (1.0 + std::exp(z)) : 1.0 / (1.0 + std::exp(-z));
}

}  // namespace

/// A record seen from w0.
struct StationaryPairs::Place {
  Record record;
  double score;       ///< logistic
  VectorXd residual;  ///< its gradient is this times its features
  double doubt;       ///< what the most certain probability leaves (softmax)
  double width;       ///< of the scores in a shell of radius 1
  double rounding;    ///< of the scores

  [[nodiscard]] double reach(double radius) const { return radius * width + rounding; }
};

/// What one row brings: everything in the metrics of the shells.
struct StationaryPairs::Row {
  Place out;
  std::optional<Place> in;
  double everywhere;               ///< |grad f' - grad f| at any w
  std::vector<MatrixXd> products;  ///< by shell: of the columns of x and of x_in
};

StationaryPairs::StationaryPairs(const ClassificationFit& fit, double variance,
                                 const std::optional<Record>& replacement, const Observer& observer)
    : fit_(&fit),
      replacement_(replacement),
      beta_(2.0 / require_positive("variance", variance)),
      shells_(fit, std::sqrt(0.5 * variance), observer),
      own_(fit.problem().weights()) {
  require_positive("ridge", own_.ridge);
  put_in_.assign(shells_.count(), MatrixXd(fit.problem().parameters(), 0));
  if (!replacement_) return;
  fit.problem().require_record(*replacement_);
  const MatrixXd columns = shells_.columns(replacement_->features);
  for (std::size_t k = 0; k < shells_.count(); ++k) put_in_[k] = shells_.whiten(k, columns);
}

StationaryPairs::Place StationaryPairs::place(const Record& record) const {
  const ClassificationProblem& problem = fit_->problem();
  const VectorXd& at = fit_->convexity().minimiser;
  const Index p = record.features.size();
  const Index m = problem.outputs();
  const VectorXd z = at.reshaped(p, m).transpose() * record.features;
  Place place{record,
              z(0),
              VectorXd(m),
              0.0,
              shells_.width(record.features),
              4.0 * static_cast<double>(p + 2) * kEpsilon * at.norm() * record.features.norm()};
  if (m == 1) {
    place.residual(0) = residual(z(0), record.target);
    return place;
  }
  VectorXd probabilities = (z.array() - z.maxCoeff()).exp();
  probabilities /= probabilities.sum();
  Index top = 0;
  (void)probabilities.maxCoeff(&top);
  place.doubt =
      (probabilities.sum() - probabilities(top)) + 4.0 * static_cast<double>(m) * kEpsilon;
  place.residual = probabilities;
  place.residual(static_cast<Index>(record.target)) -= 1.0;
  return place;
}

std::vector<StationaryBound> StationaryPairs::bounds(std::span<const Index> rows,
                                                     const Observer& observer) const {
  std::vector<StationaryBound> results(rows.size(), StationaryBound{kInf, kInf, {}});
  if (shells_.count() < 2) return results;
  const ClassificationProblem& problem = fit_->problem();
  const Index m = problem.outputs();
  MatrixXd columns(problem.parameters(), m * static_cast<Index>(rows.size()));
  std::optional<Place> in;
  if (replacement_) in = place(*replacement_);
  std::vector<Row> all;
  all.reserve(rows.size());
  for (const Index index : rows) {
    const Record record = problem.record(index);
    const GradientGap gap = fit_->gap({index, replacement_});
    columns.middleCols(m * static_cast<Index>(all.size()), m) = shells_.columns(record.features);
    all.push_back({place(record), in, gap.everywhere, {}});
  }
  for (std::size_t k = 0; k < shells_.count(); ++k) {
    throw_if_stopped(observer);
    const MatrixXd white = shells_.whiten(k, columns);
    MatrixXd joined(white.rows(), m + put_in_[k].cols());
    joined.rightCols(put_in_[k].cols()) = put_in_[k];
    for (std::size_t i = 0; i < all.size(); ++i) {
      joined.leftCols(m) = white.middleCols(m * static_cast<Index>(i), m);
      all[i].products.push_back(joined.transpose() * joined);
    }
  }
  for (std::size_t i = 0; i < all.size(); ++i) results[i] = bound(all[i]);
  return results;
}

/// |grad f' - grad f| in the metric of M_k^{-1}, at most, within the shell (Spec §7.9 (5), (6)
/// with the weights of D' being those of D).
double StationaryPairs::gradient_in(std::size_t k, const Row& row) const {
  const double radius = shells_.radius(k);
  const MatrixXd& gram = row.products[k];
  const Index m = fit_->problem().outputs();
  const bool softmax = m > 1;
  // Norm of  -c out x + c in x_in.
  const auto norm_of = [&](const VectorXd& out, const VectorXd& in) {
    VectorXd weights(gram.rows());
    weights.head(m) = -own_.row * out;
    if (row.in) weights.tail(m) = own_.row * in;
    const VectorXd size = weights.cwiseAbs();
    // What cancels in the product is uncertain by its rounding.
    return std::sqrt(std::max(0.0, weights.dot(gram * weights)) +
                     64.0 * kEpsilon * size.dot(gram.cwiseAbs() * size));
  };
  const VectorXd none = VectorXd::Zero(m);
  double largest = 0.0;
  if (row.in && row.in->record.features == row.out.record.features) {
    // The difference of the residuals is that of the labels.
    VectorXd labels = none;
    if (softmax) {
      labels(static_cast<Index>(row.in->record.target)) += 1.0;
      labels(static_cast<Index>(row.out.record.target)) -= 1.0;
    } else {
      labels(0) = row.in->record.target - row.out.record.target;
    }
    largest = norm_of(labels, none);
  } else if (softmax) {
    const auto spread = [&](const Place& place, const MatrixXd& products) {
      const double reach = place.reach(radius);
      const double moved = std::min(std::tanh(0.25 * reach), place.doubt * std::expm1(reach));
      return own_.row * (moved * largest_spread(products) +
                         static_cast<double>(m + 24) * kEpsilon * std::sqrt(products.trace()));
    };
    largest = norm_of(row.out.residual, row.in ? row.in->residual : none) +
              spread(row.out, gram.topLeftCorner(m, m));
    if (row.in) largest += spread(*row.in, gram.bottomRightCorner(m, m));
  } else {
    const auto ends = [&](const Place& place) {
      const double reach = place.reach(radius);
      return std::array<double, 2>{residual(place.score - reach, place.record.target),
                                   residual(place.score + reach, place.record.target)};
    };
    for (const double out : ends(row.out)) {
      for (const double in : row.in ? ends(*row.in) : std::array<double, 2>{}) {
        largest = std::max(largest, norm_of(VectorXd::Constant(1, out), VectorXd::Constant(1, in)));
      }
    }
  }
  return largest * shells_.slack(k) * kUp;
}

/// Spec §7.9 (1), (3) and §7.10 for one row.
StationaryBound StationaryPairs::bound(const Row& row) const {
  StationaryBound result{0.0, 0.0, {}};
  const double unit = std::sqrt(1.0 / beta_);
  const Index m = fit_->problem().outputs();
  const VectorXd probabilities = [&] {
    VectorXd z = row.out.residual;
    if (m > 1) z(static_cast<Index>(row.out.record.target)) += 1.0;
    return z;
  }();
  // Trace, at least the largest eigenvalue, of the row's share of M_k in the metric of M_k^{-1}.
  const auto share_of_row = [&](std::size_t k) {
    // At most the reach that M_k was made with, so that no more is left of the row than was put in.
    const double reach = shells_.radius(k) * row.out.width / (shells_.slack(0) * (1.0 + 1e-11));
    const MatrixXd own = row.products[k].topLeftCorner(m, m);
    if (m == 1) return own_.row * least_slope(row.out.score, reach) * own(0, 0);
    const double trace = probabilities.dot(own.diagonal()) - probabilities.dot(own * probabilities);
    return own_.row * std::exp(-reach) *
           (trace + 64.0 * kEpsilon * probabilities.dot(own.diagonal()));
  };

  std::vector<double> radii;
  std::vector<double> gradients;
  std::vector<double> losses;  // M_k(t) >= (1 - t losses_k) M_k
  for (std::size_t k = 1; k < shells_.count(); ++k) {
    radii.push_back(shells_.radius(k) / unit);
    gradients.push_back(gradient_in(k, row));
    losses.push_back(share_of_row(k) * shells_.slack(k) * kUp);
  }
  const double at_start =
      fit_->convexity().gradient_norm / std::sqrt(own_.ridge) * shells_.slack(0) / unit * kUp;
  const double push = gradient_in(0, row) / unit;
  const auto tails_at = [&](double t) {
    std::vector<double> curvature;
    for (std::size_t k = 0; k < radii.size(); ++k) {
      curvature.push_back(shells_.least(k + 1) * std::max(0.0, 1.0 - t * losses[k]));
    }
    return radial_tails(static_cast<int>(fit_->problem().parameters()), at_start + t * push, radii,
                        curvature);
  };
  // Beyond the last shell only the ridge is left.
  const double far_gradient = row.everywhere * kUp;
  const double far = far_gradient * far_gradient / own_.ridge;
  const auto variance_at = [&](double t, const RadialTails& tails) {
    if (!(tails.outer < kInf)) return kInf;
    double before = 0.0;
    double sum = 0.0;
    double mass = 1.0;
    for (std::size_t k = 0; k < radii.size(); ++k) {
      const double left = 1.0 - t * losses[k];
      const double value = left > 0.0 ? std::min(far, gradients[k] * gradients[k] / left) : far;
      if (value > before) {
        sum += (value - before) * mass;
        before = value;
      }
      mass = tails.beyond[k];
    }
    sum += (far - before) * tails.outer;
    return beta_ * sum * kUp;
  };

  const RadialTails first = tails_at(0.0);
  const RadialTails last = tails_at(1.0);
  const double most = *std::max_element(losses.begin(), losses.end());
  const int panels = push < kLittle && most < kLittle ? 1 : kPanels;
  for (int panel = 0; panel < panels; ++panel) {
    const double from = static_cast<double>(panel) / panels;
    const double to = static_cast<double>(panel + 1) / panels;
    const double value = variance_at(to, panel + 1 == panels ? last : tails_at(to));
    result.forward += value * (to - from) * (1.0 - 0.5 * (from + to));
    result.reverse += value * (to - from) * 0.5 * (from + to);
  }
  result.forward *= kUp;
  result.reverse *= kUp;
  for (std::size_t k = 0; k < radii.size(); ++k) {
    if (!(first.beyond[k] < 0.5) || !(last.beyond[k] < 0.5)) continue;
    result.local.push_back(
        {std::sqrt(beta_) * gradients[k] * kUp, first.beyond[k], last.beyond[k]});
  }
  return result;
}

}  // namespace sfumato
