#include "sfumato/rows/classification_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

#include "sfumato/core/check.hpp"
#include "sfumato/core/infinity.hpp"
#include "sfumato/core/parallel.hpp"
#include "sfumato/divergence/classification_pair.hpp"
#include "sfumato/divergence/local_gdp.hpp"
#include "sfumato/divergence/noisy_gd_gdp.hpp"
#include "sfumato/divergence/stationary_pair.hpp"
#include "sfumato/risk/chain_convexity.hpp"
#include "sfumato/rows/neighbour_bounds.hpp"
#include "sfumato/rows/row_views.hpp"
#include "sfumato/sde/chain_distribution.hpp"
#include "sfumato/sde/spectrum.hpp"

namespace sfumato {
namespace {

using Eigen::Index;

constexpr double kUp = 1.0 + 1e-14;  // rounding of a few products

/// Rows whose minimisers are found together: fewer of many parameters, so that a stop is answered soon.
std::uint64_t chunk_of(Eigen::Index parameters) {
  const auto p = static_cast<double>(parameters);
  return static_cast<std::uint64_t>(std::clamp(5e6 / (p * p), 4.0, 64.0));
}

/// One row's pair of losses.
struct RowPair {
  GradientGap gap;
  Convexity neighbour;  ///< without a minimiser if there is none (no ridge)
  std::optional<StationaryBound> stationary = {};
  [[nodiscard]] bool has_minimiser() const { return neighbour.minimiser.size() > 0; }
};

/// What is proven about one pair; `mu` is for the table.
struct Proven {
  std::vector<Risk> known;
  std::optional<Claimed<double>> mu = {};

  void add_mu(const Claimed<double>& bound) {
    mu = bound;
    known.push_back(Risk::from_gdp(bound));
  }
};
/// How the pairs of one release are bounded.
struct Prover {
  std::function<Proven(const RowPair& pair)> prove;
  std::optional<StationaryPairs> stationary =
      {};  ///< where the distributions are exp(-2 f/sigma^2)
};

const Where& here() {
  static const Where where = Where::here("row bounds");
  return where;
}

Covariance checked_noise(const ClassificationFit& fit, const Covariance& noise) {
  require_size("noise", dimension(noise), fit.problem().parameters(), here());
  Covariance checked = require_covariance("noise", noise, here());
  if (const auto* isotropic = std::get_if<Isotropic>(&checked);
      isotropic != nullptr ? isotropic->variance > 0.0 : has_full_rank(dense(checked))) {
    return checked;
  }
  throw InvalidArgument("the noise is singular: it hides nothing in some direction",
                        "Give noise in every direction", here());
}

GaussianDistribution checked_start(const ClassificationFit& fit,
                                   const GaussianDistribution& start) {
  require_size("start", start.mean.size(), fit.problem().parameters(), here());
  return {start.mean, require_covariance("start", start.covariance, here())};
}

/// Says that the bound on the KL does not apply, if so.
void note_kinds(const Covariance& noise, std::vector<std::string>& notes) {
  if (isotropic_variance(noise).has_value()) return;
  notes.emplace_back(
      "The noise is not isotropic, so the KL bound from convexity constants does not apply, and "
      "every number follows from mu.");
}

/// The bounds that curvature near the minimiser proves about the invariant distributions.
void add_stationary(const StationaryBound& bound, Proven& proven) {
  const char* const kMethod = "curvature near the minimiser, stationary distributions";
  if (bound.forward < kInf && bound.reverse < kInf) {
    const auto kl = [&](double value) {
      return Claimed<Nats>{Nats{value}, Claim::upper_bound, kMethod};
    };
    proven.known.push_back(Risk::from_kl(kl(bound.forward), kl(bound.reverse)));
  }
  if (!bound.local.empty()) {
    proven.known.push_back(Risk::from_local_gdp(bound.local, kMethod));
  }
}

Prover prover(const ClassificationFit& fit, const RowRiskOptions& options,
              const FlowRelease& release, std::vector<std::string>& notes, Observer& observer) {
  const double time = require_non_negative("time", release.time, here());
  const Covariance noise = checked_noise(fit, release.noise);
  const GaussianDistribution start = checked_start(fit, release.start);
  note_kinds(noise, notes);
  const Convexity& own = fit.convexity();
  const double rate = hessian_contraction(own.kappa, own.lipschitz, noise);
  if (time == kInf && !(rate > 0.0)) {
    throw NumericalFailure(
        own.kappa > 0.0
            ? fmt::format("the flow is not proven to contract in the metric of this noise (rate "
                          "{:.3g}), so there is no bound for unlimited time",
                          rate)
            : std::string("without a ridge the flow is not proven to contract (kappa = 0), so "
                          "there is no bound for unlimited time"),
        own.kappa > 0.0 ? "Use isotropic noise, or give a finite `time`"
                        : "Add a `ridge`, or give a finite `time`",
        here());
  }
  if (!(rate > 0.0)) {
    notes.push_back(
        fmt::format("The flow is not proven to contract in the metric of the noise (rate {:.3g}); "
                    "rate 0 is used for mu, which then grows like the square root of the time.",
                    rate));
  }
  Prover prover;
  if (const auto variance = isotropic_variance(noise);
      variance && time == kInf && !fit.problem().is_softmax()) {
    prover.stationary.emplace(fit, *variance, options.replacement, observer);
  }
  prover.prove = [&fit, time, noise, start](const RowPair& pair) {
    Proven proven;
    const auto variance = isotropic_variance(noise);
    if (variance && pair.has_minimiser()) {
      const PairConstants constants =
          classification_constants(fit, pair.gap, pair.neighbour, *variance, start);
      proven.known.push_back(Risk::from_kl(kl_bound_finite_time(constants.forward, time).kl,
                                           kl_bound_finite_time(constants.reverse, time).kl));
    }
    if (const auto sensitivity = classification_sensitivity(pair.gap, noise); sensitivity.value) {
      const HessianBounds both = common_bounds(fit.convexity(), pair.neighbour);
      const double common = hessian_contraction(both.kappa, both.lipschitz, noise);
      proven.add_mu(langevin_gdp(sensitivity.value->value, common, time).mu);
    }
    if (pair.stationary) add_stationary(*pair.stationary, proven);
    return proven;
  };
  return prover;
}

Prover prover(const ClassificationFit& fit, const RowRiskOptions&, const ChainRelease& release,
              std::vector<std::string>& notes, Observer&) {
  const double eta = require_positive("learning_rate", release.learning_rate, here());
  const double steps = release.steps;
  require_steps(steps, here());
  const Covariance noise = checked_noise(fit, release.noise);
  const GaussianDistribution start = checked_start(fit, release.start);
  note_kinds(noise, notes);
  const Convexity& own = fit.convexity();
  const double c = hessian_step_lipschitz(own.kappa, own.lipschitz, eta, noise);
  if (c >= 1.0) {
    const std::string remedy =
        own.kappa == 0.0 ? std::string("Add a `ridge`")
        : isotropic_variance(noise)
            ? fmt::format("Set `learning_rate` below {:.3g}", 2.0 / own.lipschitz)
            : std::string("Lower `learning_rate` or use isotropic noise");
    if (steps == kInf) {
      throw NumericalFailure(
          fmt::format("the steps are not proven to contract (constant {:.4g}, the curvature is up "
                      "to {:.4g}), so there is no bound for unlimited steps",
                      c, own.lipschitz),
          remedy + ", or give a finite number of `steps`", here());
    }
    notes.push_back(
        fmt::format("The steps are not proven to contract (constant {:.4g}, the curvature is up to "
                    "{:.4g}): constant 1 is used, as if every iterate were released. {}.",
                    c, own.lipschitz, remedy));
  }
  return {[&fit, eta, steps, noise, start](const RowPair& pair) {
    Proven proven;
    const auto variance = isotropic_variance(noise);
    if (variance && pair.has_minimiser()) {
      const PairConstants constants =
          classification_constants(fit, pair.gap, pair.neighbour, *variance, start);
      proven.known.push_back(Risk::from_kl(kl_bound_chain(constants.forward, eta, steps).kl,
                                           kl_bound_chain(constants.reverse, eta, steps).kl));
    }
    if (const auto sensitivity = classification_sensitivity(pair.gap, noise); sensitivity.value) {
      const HessianBounds both = common_bounds(fit.convexity(), pair.neighbour);
      // |T(x) - T'(x)| in the metric of eta Sigma is eta |grad f - grad f'| / sqrt(eta).
      proven.add_mu(noisy_gd_gdp(sensitivity.value->value * std::sqrt(eta) * kUp,
                                 proven_step_lipschitz(both, eta, noise), steps)
                        .mu);
    }
    return proven;
  }};
}

Prover prover(const ClassificationFit& fit, const RowRiskOptions&, const MinimiserRelease& release,
              std::vector<std::string>&, Observer&) {
  const Covariance noise = checked_noise(fit, release.noise);
  const auto variance = isotropic_variance(noise);
  const double least =
      variance ? *variance : spectrum_of(dense(noise)).values.minCoeff() * (1.0 - 1e-12);
  return {[&fit, noise, least](const RowPair& pair) {
    if (!pair.has_minimiser()) return Proven{};
    const Convexity& own = fit.convexity();
    const Eigen::VectorXd shift = pair.neighbour.minimiser - own.minimiser;
    const double known = std::sqrt(std::max(0.0, shift.dot(solve(noise, shift).col(0))));
    const double unknown = (own.distance + pair.neighbour.distance) / std::sqrt(least);
    Proven proven;
    proven.add_mu({known * (1.0 + 1e-10) + unknown,
                   Claim::upper_bound,
                   "distance of the certified minimisers",
                   {}});
    return proven;
  }};
}

/// The pairs of one block; where a neighbour has no minimiser, the others still get theirs.
std::vector<RowPair> pairs_of(const ClassificationFit& fit, const std::vector<Neighbour>& block,
                              const std::optional<StationaryPairs>& stationary,
                              const Observer& observer) {
  std::vector<RowPair> pairs;
  pairs.reserve(block.size());
  for (const Neighbour& neighbour : block) pairs.push_back({fit.gap(neighbour), {}});
  if (stationary) {
    std::vector<Index> rows;
    for (const Neighbour& neighbour : block) rows.push_back(neighbour.row);
    std::vector<StationaryBound> bounds = stationary->bounds(rows, observer);
    for (std::size_t i = 0; i < pairs.size(); ++i) pairs[i].stationary = std::move(bounds[i]);
  }
  try {
    const std::vector<Convexity> found = fit.neighbours(block);
    for (std::size_t i = 0; i < pairs.size(); ++i) pairs[i].neighbour = found[i];
    return pairs;
  } catch (const NumericalFailure&) {
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      try {
        pairs[i].neighbour = fit.neighbours({&block[i], 1}).front();
      } catch (const NumericalFailure&) {
        const auto other = fit.problem().neighbour(block[i].row, block[i].replacement);
        pairs[i].neighbour = {other.weights().ridge, hessian_bound(other), {}, kInf, kInf};
      }
    }
  }
  return pairs;
}

RowRisk risk_of(Index row, const RowPair& pair, const Prover& prover,
                const RowRiskOptions& options) {
  RowRisk result;
  result.row = row;
  try {
    const Proven proven = prover.prove(pair);
    if (proven.known.empty()) {
      result.status = RowStatus::no_model;
      result.message = "without this row the loss has no minimiser";
      return result;
    }
    if (proven.mu) result.mu = {proven.mu->value, proven.mu->claim};
    set_views(result, Risk::best_of(proven.known), options);
  } catch (const NumericalFailure& failure) {
    result.status = RowStatus::failed;
    result.message = failure.advice();
  }
  return result;
}

}  // namespace

HessianBounds common_bounds(const Convexity& table, const Convexity& neighbour) {
  return {std::min(table.kappa, neighbour.kappa), std::max(table.lipschitz, neighbour.lipschitz)};
}

ClassificationRows row_bounds(const ClassificationProblem& problem, const RowRiskOptions& options,
                              Observer& observer) {
  return row_bounds(ClassificationFit(problem), options, observer);
}

ClassificationRows row_bounds(const ClassificationFit& fit, const RowRiskOptions& options,
                              Observer& observer) {
  if (options.replacement) fit.problem().require_record(*options.replacement, here());
  ClassificationRows result;
  result.rows.resize(static_cast<std::size_t>(fit.problem().rows()));
  for (std::size_t i = 0; i < result.rows.size(); ++i) result.rows[i].row = static_cast<Index>(i);
  Prover how;
  try {
    how = std::visit(
        [&](const auto& release) { return prover(fit, options, release, result.notes, observer); },
        options.release);
  } catch (const Stopped&) {
    return result;
  }
  const std::vector<Index> chosen = rows_to_compute(options, fit.problem().rows());
  const std::uint64_t chunk = chunk_of(fit.problem().parameters());
  (void)parallel_blocks(
      {"rows", chosen.size(), chunk, options.threads}, observer,
      [&](std::uint64_t first, std::uint64_t last) {
        std::vector<Neighbour> block;
        for (std::uint64_t i = first; i < last; ++i) {
          block.push_back({chosen[i], options.replacement});
        }
        const std::vector<RowPair> pairs = pairs_of(fit, block, how.stationary, observer);
        for (std::uint64_t i = first; i < last; ++i) {
          const Index row = chosen[i];
          result.rows[static_cast<std::size_t>(row)] = risk_of(row, pairs[i - first], how, options);
        }
      });
  return result;
}

NeighbourBounds neighbour_bounds(const ClassificationFit& fit, const Neighbour& neighbour,
                                 const Release& release) {
  if (neighbour.replacement) fit.problem().require_record(*neighbour.replacement, here());
  RowRiskOptions options{release, neighbour.replacement, {}};
  NeighbourBounds result;
  Observer quiet;
  const Prover how =
      std::visit([&](const auto& kind) { return prover(fit, options, kind, result.notes, quiet); },
                 options.release);
  const Proven proven = how.prove(pairs_of(fit, {neighbour}, how.stationary, quiet).front());
  result.mu = proven.mu;
  if (!proven.known.empty()) result.risk = Risk::best_of(proven.known);
  return result;
}

}  // namespace sfumato
