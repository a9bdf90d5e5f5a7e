#include "sfumato/privacy/ridge_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

#include "sfumato/core/check.hpp"
#include "sfumato/core/parallel.hpp"
#include "sfumato/math/entries.hpp"
#include "sfumato/sde/chain_law.hpp"
#include "sfumato/sde/ou_law.hpp"
#include "sfumato/sde/problem/ridge_change.hpp"

namespace sfumato {
namespace {

using Eigen::Index;
using Eigen::VectorXd;

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr std::uint64_t kChunk = 64;  // rows a thread takes at a time: some milliseconds of work

/// The whitened pair of one row; empty when D' has no model.
using PairOfRow = std::function<std::optional<WhitenedPair>(Index row)>;

void require_dimension(std::string_view what, Index got, Index expected) {
  require_size(what, got, expected, Where::here("row_risks"));
}

PairOfRow pairs_of(const RidgeProblem& problem, const std::optional<Record>& replacement,
                   const MinimiserRelease& release) {
  require_dimension("noise", dimension(release.noise), problem.parameters());
  const Covariance noise = require_covariance("noise", release.noise, Where::here("row_risks"));
  (void)problem.minimiser();
  return [&problem, &replacement, noise](Index row) -> std::optional<WhitenedPair> {
    const std::optional<VectorXd> shift = minimiser_shift(problem, row, replacement);
    if (!shift) return std::nullopt;
    return whiten(VectorXd::Zero(shift->size()), noise, *shift, noise);
  };
}

PairOfRow pairs_of(const RidgeProblem& problem, const std::optional<Record>& replacement,
                   const FlowRelease& release) {
  const Where where = Where::here("row_risks");
  require_non_negative("time", release.time, where);
  require_dimension("noise", dimension(release.noise), problem.parameters());
  require_dimension("start", release.start.mean.size(), problem.parameters());
  const Covariance noise = require_covariance("noise", release.noise, where);
  const GaussianLaw start{release.start.mean,
                          require_covariance("start", release.start.covariance, where)};
  const double time = release.time;

  const auto* isotropic = std::get_if<Isotropic>(&noise);
  if (time == kInf && isotropic != nullptr && isotropic->variance > 0.0 &&
      changes_rows_only(problem, !replacement)) {
    (void)problem.minimiser();
    const double variance = isotropic->variance;
    return [&problem, &replacement, variance](Index row) {
      return ridge_pair_stationary(problem, row, replacement, variance);
    };
  }

  const OuLaw law({problem.loss().curvature, problem.loss().pull, noise, problem.loss().given}, start);
  (void)law.at(time);  // throws if the table itself has no law at this time
  return
      [&problem, &replacement, noise, start, time, law](Index row) -> std::optional<WhitenedPair> {
        const QuadraticLoss loss = problem.neighbour(row, replacement);
        const OuLaw other({loss.curvature, loss.pull, noise, loss.given}, start);
        if (time == kInf && !other.long_run().law) return std::nullopt;
        return whiten_at(law, other, time);
      };
}

PairOfRow pairs_of(const RidgeProblem& problem, const std::optional<Record>& replacement,
                   const ChainRelease& release) {
  const Where where = Where::here("row_risks");
  require_steps(release.steps, where);
  require_positive("learning_rate", release.learning_rate, where);
  require_dimension("noise", dimension(release.noise), problem.parameters());
  require_dimension("start", release.start.mean.size(), problem.parameters());
  const Covariance step_noise =
      scaled(require_covariance("noise", release.noise, where), release.learning_rate);
  const GaussianLaw start{release.start.mean,
                          require_covariance("start", release.start.covariance, where)};
  const double rate = release.learning_rate;
  const double steps = release.steps;
  const ChainLaw law({problem.loss().curvature, problem.loss().pull, rate, step_noise, problem.loss().given}, start);
  (void)law.at(steps);  // throws if the table itself has no law after so many steps
  return [&problem, &replacement, step_noise, start, rate, steps,
          law](Index row) -> std::optional<WhitenedPair> {
    const QuadraticLoss loss = problem.neighbour(row, replacement);
    const ChainLaw other({loss.curvature, loss.pull, rate, step_noise, loss.given}, start);
    // A flat direction without the row; a step too long for D' is a failure instead.
    if (steps == kInf && other.spectrum().values.minCoeff() <= 0.0 && !other.long_run().law) {
      return std::nullopt;
    }
    return whiten_at(law, other, steps);
  };
}

RowRisk risk_of(const RidgeProblem& problem, Index row, const PairOfRow& pair_of,
                const RowRiskOptions& options) {
  RowRisk result;
  result.row = row;
  result.leverage = problem.leverage(row);
  try {
    std::optional<WhitenedPair> pair = pair_of(row);
    if (!pair) {
      result.status = RowStatus::no_model;
      result.message = "without this row the loss has no unique minimiser";
      return result;
    }
    result.used_rank_tolerance = pair->used_rank_tolerance;
    set_views(result, Risk::exact(*pair), options);
  } catch (const NumericalFailure& failure) {
    result.status = RowStatus::failed;
    result.message = failure.advice();
  }
  return result;
}

}  // namespace

std::vector<RowRisk> row_risks(const RidgeProblem& problem, const RowRiskOptions& options,
                               Observer& observer) {
  if (options.replacement) {
    const Where where = Where::here();
    require_dimension("replacement", options.replacement->features.size(), problem.parameters());
    require_finite_entries("replacement", options.replacement->features, where);
    require_finite("replacement target", options.replacement->target, where);
  }
  const PairOfRow pair_of = std::visit(
      [&](const auto& release) { return pairs_of(problem, options.replacement, release); },
      options.release);

  std::vector<RowRisk> risks(static_cast<std::size_t>(problem.rows()));
  for (std::size_t i = 0; i < risks.size(); ++i) risks[i].row = static_cast<Index>(i);
  (void)parallel_blocks({"rows", risks.size(), kChunk, options.threads}, observer,
                        [&](std::uint64_t first, std::uint64_t last) {
                          for (std::uint64_t row = first; row < last; ++row) {
                            risks[row] =
                                risk_of(problem, static_cast<Index>(row), pair_of, options);
                          }
                        });
  return risks;
}

}  // namespace sfumato
