#include "sfumato/fit/selection.hpp"

#include <algorithm>
#include <cmath>

#include "sfumato/core/error.hpp"
#include "sfumato/fit/evaluate.hpp"
#include "sfumato/fit/intervals.hpp"
#include "sfumato/fit/mechanism.hpp"
#include "sfumato/fit/noisy_sum.hpp"
#include "sfumato/fit/sensitivity.hpp"

namespace sfumato {

using Eigen::Index;

namespace {

/// The loss of one held-out record under one fit, in [0, 1].
double loss_of(const BoundedRows& rows, Index i, const PrivateFit& fit, double target,
               double middle, double largest, FitModel model) {
  const Eigen::RowVectorXd scores = rows.features.row(i) * fit.parameters;
  if (model == FitModel::ridge) {
    const double error = scores(0) + middle - target;
    const double loss = error / largest * (error / largest);
    return std::isfinite(loss) ? std::min(1.0, loss) : 1.0;
  }
  Index guess = scores(0) > 0.0 ? 1 : 0;
  if (model == FitModel::softmax) scores.maxCoeff(&guess);
  return static_cast<double>(guess) == target ? 0.0 : 1.0;
}

double middle_of(const PublicTable& table) {
  return 0.5 * table.target_low + 0.5 * table.target_high;
}

}  // namespace

void centre_losses(Eigen::Ref<Eigen::ArrayXd> losses) {
  losses -= 0.5 * (losses.minCoeff() + losses.maxCoeff());
}

ChosenFit choose_fit(const RowSource& source, const PublicTable& table,
                     const std::vector<FitPlan>& plans, double held_out_mu,
                     const std::vector<ReleaseKey>& keys, Observer& observer) {
  if (plans.size() < 2 || keys.size() != plans.size() + 1 || plans.front().holdout == 0.0) {
    throw InvalidArgument("a choice needs two fits or more, and rows that none of them saw",
                          "Name several, and hold out some rows", Where::key("select"));
  }
  const ReleaseKey& parts_key = keys.back();
  const auto held_out_under = [&](const PublicTable& bounds) {
    ReleaseBits coins(parts_key, static_cast<std::uint64_t>(FitStream::parts));
    return split_rows(source(bounds), plans.front().holdout, coins).held_out;
  };
  std::vector<PrivateFit> fits;
  std::vector<BoundedRows> rows;
  for (std::size_t k = 0; k < plans.size(); ++k) {
    fits.push_back(private_fit(source, table, plans[k], keys[k], observer, {false, &parts_key}));
    rows.push_back(held_out_under(fits.back().table));
  }
  const FitPlan& first = plans.front();
  const BoundedRows declared = held_out_under(table);
  const double largest = 0.6 * table.target_bound();
  const double mu = std::sqrt(0.5) * held_out_mu;
  const double candidates = static_cast<double>(plans.size());
  ReleaseBits bits(parts_key, static_cast<std::uint64_t>(FitStream::selection));
  const NoisySum sums = noisy_sum(
      [&](Index i, Eigen::Ref<Eigen::ArrayXd> out) {
        if (declared.features.row(i).isZero(0.0)) return;  // a null record
        const double target = first.model == FitModel::ridge ? declared.target(i) + middle_of(table)
                                                             : declared.target(i);
        for (std::size_t k = 0; k < fits.size(); ++k) {
          out(static_cast<Index>(k)) =
              loss_of(rows[k], i, fits[k], target, middle_of(fits[k].table), largest, first.model);
        }
        centre_losses(out);
      },
      {declared.features.rows(), static_cast<Index>(plans.size()), 0.5 * std::sqrt(candidates),
       multiplier_of_mu(mu, table.relation), static_cast<double>(table.rows)},
      first.noise_mode, bits);
  Index best = 0;
  sums.sum.minCoeff(&best);
  const auto index = static_cast<std::size_t>(best);
  PrivateFit& fit = fits[index];
  ReleaseBits more(parts_key, static_cast<std::uint64_t>(FitStream::held_out));
  fit.held_out = evaluate_fit(rows[index], plans[index], mu, fit, more);
  add_intervals(fit.table, plans[index], &fit);
  return {index, std::move(fit)};
}

}  // namespace sfumato
