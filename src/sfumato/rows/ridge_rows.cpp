#include "sfumato/rows/ridge_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

#include "sfumato/core/check.hpp"
#include "sfumato/core/infinity.hpp"
#include "sfumato/core/overloaded.hpp"
#include "sfumato/core/parallel.hpp"
#include "sfumato/divergence/gaussian_kl.hpp"
#include "sfumato/math/entries.hpp"
#include "sfumato/rows/row_views.hpp"
#include "sfumato/sde/chain_distribution.hpp"
#include "sfumato/sde/ou_distribution.hpp"
#include "sfumato/sde/problem/ridge_change.hpp"
#include "sfumato/sde/problem/row_span.hpp"
#include "sfumato/sde/step_noise.hpp"

namespace sfumato {
namespace {

using Eigen::Index;
using Eigen::VectorXd;

constexpr Index kMostParameters = 1000;
constexpr double kSameDigits = 1e-6;  // of numbers whose fourth is read
constexpr std::uint64_t kChunk = 64;  // rows a thread takes at a time: some milliseconds of work

/// The whitened pair of one row; empty when D' has no model.
using PairOfRow = std::function<std::optional<WhitenedPair>(Index row)>;

void require_dimension(std::string_view what, Index got, Index expected) {
  require_size(what, got, expected, Where::here("row_risks"));
}

/// A row takes seconds here, O(p^3), and cannot be interrupted.
void require_affordable(const RidgeProblem& problem) {
  if (problem.parameters() <= kMostParameters) return;
  throw InvalidArgument(fmt::format("{} parameters are too many for this release: the maximum is "
                                    "{}",
                                    problem.parameters(), kMostParameters),
                        "Use fewer columns, the stationary distribution with isotropic noise and "
                        "the sum, or `release`",
                        Where::here("row risks"));
}

/// Throws   NumericalFailure if the loss has no unique minimiser: one that double precision cannot
///          tell from none is looked for with more digits.
void require_minimiser(const RidgeProblem& problem, const Observer& observer) {
  if (problem.has_minimiser(observer)) return;
  if (problem.parameters() <= kLargestWide && problem.precise().spectrum().values(0) > 0.0) return;
  (void)problem.minimiser();
}

PairOfRow pairs_of(const RidgeProblem& problem, const std::optional<Record>& replacement,
                   const MinimiserRelease& release, const Observer& observer) {
  require_dimension("noise", dimension(release.noise), problem.parameters());
  const Covariance noise = require_covariance("noise", release.noise, Where::here("row_risks"));
  require_minimiser(problem, observer);
  return [&problem, &replacement, &observer, noise](Index row) {
    return ridge_pair_released(problem, row, replacement, noise, observer);
  };
}

PairOfRow pairs_of(const RidgeProblem& problem, const std::optional<Record>& replacement,
                   const FlowRelease& release, const Observer& observer) {
  const Where where = Where::here("row_risks");
  require_non_negative("time", release.time, where);
  require_dimension("noise", dimension(release.noise), problem.parameters());
  require_dimension("start", release.start.mean.size(), problem.parameters());
  const Covariance noise = require_covariance("noise", release.noise, where);
  const GaussianDistribution start{release.start.mean,
                                   require_covariance("start", release.start.covariance, where)};
  const double time = release.time;

  const auto* isotropic = std::get_if<Isotropic>(&noise);
  if (time == kInf && isotropic != nullptr && isotropic->variance > 0.0) {
    require_minimiser(problem, observer);
    const double variance = isotropic->variance;
    return [&problem, &replacement, &observer, variance](Index row) {
      return ridge_pair_stationary(problem, row, replacement, variance, observer);
    };
  }

  require_affordable(problem);
  const QuadraticLoss& loss = problem.loss(observer);
  const OuDistribution distribution({loss.curvature, loss.pull, noise, loss.given}, start);
  (void)distribution.at(time);  // throws if the table itself has no distribution at this time
  return [&problem, &replacement, noise, start, time,
          distribution](Index row) -> std::optional<WhitenedPair> {
    const QuadraticLoss neighbour = problem.neighbour(row, replacement);
    const OuDistribution other({neighbour.curvature, neighbour.pull, noise, neighbour.given},
                               start);
    if (time == kInf && !other.long_run().distribution) return std::nullopt;
    return whiten_at(distribution, other, time);
  };
}

PairOfRow pairs_of(const RidgeProblem& problem, const std::optional<Record>& replacement,
                   const ChainRelease& release, const Observer& observer) {
  const Where where = Where::here("row_risks");
  require_steps(release.steps, where);
  require_positive("learning_rate", release.learning_rate, where);
  require_dimension("noise", dimension(release.noise), problem.parameters());
  require_dimension("start", release.start.mean.size(), problem.parameters());
  const Covariance noise =
      step_noise(require_covariance("noise", release.noise, where), release.learning_rate);
  const GaussianDistribution start{release.start.mean,
                                   require_covariance("start", release.start.covariance, where)};
  require_affordable(problem);
  const double rate = release.learning_rate;
  const double steps = release.steps;
  const QuadraticLoss& loss = problem.loss(observer);
  const ChainDistribution distribution({loss.curvature, loss.pull, rate, noise, loss.given}, start);
  (void)distribution.at(
      steps);  // throws if the table itself has no distribution after so many steps
  return [&problem, &replacement, noise, start, rate, steps,
          distribution](Index row) -> std::optional<WhitenedPair> {
    const QuadraticLoss neighbour = problem.neighbour(row, replacement);
    const ChainDistribution other(
        {neighbour.curvature, neighbour.pull, rate, noise, neighbour.given}, start);
    // A flat direction without the row; a step too long for D' is a failure instead.
    if (steps == kInf && other.spectrum().values.minCoeff() <= 0.0 &&
        !other.long_run().distribution) {
      return std::nullopt;
    }
    return whiten_at(distribution, other, steps);
  };
}

RowRisk risk_of(const RidgeProblem& problem, Index row, const PairOfRow& pair_of,
                const RowRiskOptions& options) {
  RowRisk result;
  result.row = row;
  result.leverage = {problem.leverage(row),
                     problem.leverages_are_lower_bounds() ? Claim::lower_bound : Claim::exact};
  try {
    std::optional<WhitenedPair> pair = pair_of(row);
    if (!pair && problem.parameters() > kLargestWide) {
      throw NumericalFailure(
          "double precision cannot tell whether the loss has a unique minimiser without this row",
          "Add ridge, or drop columns that others determine", Where::here("row risks"));
    }
    if (!pair) {
      result.status = RowStatus::no_model;
      result.message = "without this row the loss has no unique minimiser";
      return result;
    }
    if (too_far_apart(*pair)) {
      throw NumericalFailure(kTooFarApart, "Use more noise or ridge", Where::here("row risks"));
    }
    result.used_rank_tolerance = pair->used_rank_tolerance;
    set_views(result, Risk::exact(*pair), options);
  } catch (const NumericalFailure& failure) {
    result.status = RowStatus::failed;
    result.message = failure.advice();
  }
  return result;
}

std::vector<RowRisk> not_computed(Index rows) {
  std::vector<RowRisk> risks(static_cast<std::size_t>(rows));
  for (std::size_t i = 0; i < risks.size(); ++i) risks[i].row = static_cast<Index>(i);
  return risks;
}

std::vector<RowRisk> risks_of(const RidgeProblem& problem, const RowRiskOptions& options,
                              Observer& observer) {
  const PairOfRow pair_of = std::visit(
      [&](const auto& release) {
        return pairs_of(problem, options.replacement, release, observer);
      },
      options.release);

  std::vector<RowRisk> risks = not_computed(problem.rows());
  const std::vector<Index> chosen = rows_to_compute(options, problem.rows());
  (void)parallel_blocks({"rows", chosen.size(), kChunk, options.threads}, observer,
                        [&](std::uint64_t first, std::uint64_t last) {
                          for (std::uint64_t i = first; i < last; ++i) {
                            throw_if_stopped(observer);
                            const Index row = chosen[i];
                            risks[static_cast<std::size_t>(row)] =
                                risk_of(problem, row, pair_of, options);
                          }
                        });
  return risks;
}

/// Whether a release looks the same from every side, so that directions in which no row has a
/// component tell nothing: those without curvature too, unless a distribution is asked for in the long run.
bool is_round(const Release& release, bool ridge) {
  return std::visit(Overloaded{[&](const MinimiserRelease& of) {
                                 return ridge && std::holds_alternative<Isotropic>(of.noise);
                               },
                               [&](const auto& of) {
                                 double when = 0.0;
                                 if constexpr (requires { of.time; }) when = of.time;
                                 if constexpr (requires { of.steps; }) when = of.steps;
                                 return (ridge || when < kInf) &&
                                        std::holds_alternative<Isotropic>(of.noise) &&
                                        std::holds_alternative<Isotropic>(of.start.covariance) &&
                                        of.start.mean.isZero(0.0);
                               }},
                    release);
}

/// The same release in fewer dimensions.
Release reduced(Release release, Index dimension) {
  std::visit(
      Overloaded{[&](MinimiserRelease& of) { std::get<Isotropic>(of.noise).dimension = dimension; },
                 [&](auto& of) {
                   std::get<Isotropic>(of.noise).dimension = dimension;
                   of.start.mean = VectorXd::Zero(dimension);
                   std::get<Isotropic>(of.start.covariance).dimension = dimension;
                 }},
      release);
  return release;
}

bool agree(double a, double b) {
  return a == b || std::abs(a - b) <= kSameDigits * std::max(std::abs(a), std::abs(b));
}

/// A table of more columns than rows in the span of its rows, twice: rounding that can be seen differs.
std::vector<RowRisk> risks_in_span(const RidgeProblem& problem, const RowRiskOptions& options,
                                   Observer& observer) {
  const auto solve = [&](bool last_first) {
    const RowSpan span = span_of_rows(problem, options.replacement, last_first, observer);
    RowRiskOptions inner = options;
    inner.replacement = span.replacement;
    inner.release = reduced(options.release, span.problem.parameters());
    return risks_of(span.problem, inner, observer);
  };
  std::vector<RowRisk> risks = solve(false);
  const std::vector<RowRisk> again = solve(true);
  for (std::size_t i = 0; i < risks.size(); ++i) {
    if (again[i].status == RowStatus::not_computed) risks[i] = again[i];
    if (risks[i].status != RowStatus::ok) continue;
    if (again[i].status == RowStatus::ok &&
        agree(risks[i].forward.kl.value, again[i].forward.kl.value) &&
        agree(risks[i].reverse.kl.value, again[i].reverse.kl.value)) {
      continue;
    }
    RowRisk failed;
    failed.row = risks[i].row;
    failed.status = RowStatus::failed;
    failed.leverage = risks[i].leverage;
    failed.message = "double precision loses too many digits. Standardise the columns";
    risks[i] = std::move(failed);
  }
  return risks;
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
  std::visit(
      [&](const auto& of) {
        require_dimension("noise", dimension(of.noise), problem.parameters());
      },
      options.release);
  const Index span = problem.rows() + (options.replacement ? 1 : 0);
  const bool in_span = problem.parameters() > std::max(span, kLargestWide) &&
                       is_round(options.release, problem.options().ridge > 0.0);
  try {
    return (in_span ? risks_in_span : risks_of)(problem, options, observer);
  } catch (const Stopped&) {  // before the first row
    return not_computed(problem.rows());
  }
}

}  // namespace sfumato
