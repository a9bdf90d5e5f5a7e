#include "sfumato/divergence/pair_bounds.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "sfumato/core/check.hpp"
#include "sfumato/core/infinity.hpp"
#include "sfumato/divergence/contractive_bound.hpp"
#include "sfumato/divergence/entropy_rate.hpp"
#include "sfumato/divergence/langevin_gdp.hpp"
#include "sfumato/divergence/make_kl_bound.hpp"
#include "sfumato/divergence/matched_pair.hpp"
#include "sfumato/divergence/matched_process.hpp"
#include "sfumato/divergence/ou_pair.hpp"
#include "sfumato/divergence/stationary_density.hpp"
#include "sfumato/math/precision.hpp"
#include "sfumato/sde/family/linear.hpp"
#include "sfumato/sde/precise/careful.hpp"
#include "sfumato/sde/spectrum.hpp"

namespace sfumato {
namespace {

using Eigen::VectorXd;

/// kappa, L, minimiser of a linear drift; empty when its curvature is not positive definite.
struct Quadratic {
  HessianBounds hessian;
  VectorXd minimiser;
};
std::optional<Quadratic> quadratic_of(const OuProcess& process) {
  const OuDistribution distribution(process,
                                    point_distribution(VectorXd::Zero(process.pull.size())));
  const Spectrum& spectrum = distribution.spectrum();
  // Constants of a bound: the eigenvalues are off by their rounding, on the wrong side perhaps.
  const double margin = spectrum.is_diagonal() ? 0.0 : rounding_of(spectrum);
  const double least = spectrum.values.minCoeff() - margin;
  if (!(least > 0.0)) return std::nullopt;
  const LongRunDistribution limit = distribution.long_run();
  if (!limit.distribution) return std::nullopt;
  return Quadratic{{least, spectrum.values.maxCoeff() + margin}, limit.distribution->mean};
}

/// By how much the difference of two curvatures may be off that are sums over rows.
double rounded_sums(const OuPair& pair) {
  if (!pair.p.given || !std::holds_alternative<RowsGiven>(*pair.p.given)) return 0.0;
  return 4.0 * std::numeric_limits<double>::epsilon() *
         (pair.p.curvature.norm() + pair.q.curvature.norm());
}

LossDifference difference_of(const OuPair& pair) {
  return loss_difference({pair.p.curvature, pair.p.pull, pair.p.given.get()},
                         {pair.q.curvature, pair.q.pull, pair.q.given.get()},
                         VectorXd::Zero(pair.p.pull.size()));
}

Known<PairConstants> constants_of(const OuPair& pair) {
  const auto variance = isotropic_variance(pair.p.noise);
  const auto variance_prime = isotropic_variance(pair.q.noise);
  if (!variance || !variance_prime) return {{}, "needs isotropic noise (Sigma = sigma^2 I)"};
  if (!same_distribution(pair.start_p, pair.start_q)) return {{}, "needs a common start"};
  if (difference_is_rounded(pair.p, pair.q)) return {{}, kRoundedDifference};
  const auto f = quadratic_of(pair.p);
  const auto f_prime = quadratic_of(pair.q);
  if (!f || !f_prime) return {{}, "needs strongly convex losses (all eigenvalues of A above 0)"};
  const Spectrum gap = spectrum_of(difference_of(pair).curvature);
  const double gap_lipschitz = gap.values.cwiseAbs().maxCoeff() +
                               (gap.is_diagonal() ? 0.0 : rounding_of(gap)) + rounded_sums(pair);
  const double distance = (f->minimiser - f_prime->minimiser).norm();
  const auto direction = [&](const Quadratic& first, double first_variance, const Quadratic& second,
                             double second_variance, const OuProcess& other) {
    return LangevinConstants{first.hessian,
                             second.hessian,
                             first_variance,
                             second_variance,
                             first.minimiser.size(),
                             distance,
                             mean_squared_distance(pair.start_p, first.minimiser),
                             (other.curvature * first.minimiser - other.pull).norm(),
                             gap_lipschitz};
  };
  return {PairConstants{direction(*f, *variance, *f_prime, *variance_prime, pair.q),
                        direction(*f_prime, *variance_prime, *f, *variance, pair.p),
                        smoothness(pair.start_p)},
          {}};
}

Known<Claimed<double>> sensitivity_of(const OuPair& pair) {
  if (!same_matrix(pair.p.noise, pair.q.noise)) return {{}, "needs equal noise"};
  if (!is_definite(pair.p.noise)) return {{}, "needs noise in every direction"};
  if (difference_is_rounded(pair.p, pair.q)) return {{}, kRoundedDifference};
  // Sums over different rows may round to the same matrix.
  const bool given = pair.p.given && pair.q.given && pair.p.given != pair.q.given;
  if (pair.p.curvature != pair.q.curvature ||
      (given && loss_in<Wide>(*pair.p.given).curvature != loss_in<Wide>(*pair.q.given).curvature)) {
    return {{}, "the drifts differ by an unbounded function of x (the curvatures differ)"};
  }
  const VectorXd gap = difference_of(pair).pull;
  const double squared =
      rounding_of_metric(pair.p.noise) * gap.dot(solve(pair.p.noise, gap).col(0));
  if (!std::isfinite(squared)) return {{}, "the noise is too small for double precision"};
  return {Claimed<double>{std::sqrt(squared), Claim::exact, "constant difference of the drifts"},
          {}};
}

double contraction_rate(const Diffusion& diffusion, const Covariance& metric) {
  return diffusion.contraction ? diffusion.contraction(metric) : -kInf;
}

PairBound neither(BoundMethod method, const std::string& reason) {
  const KlBound none = no_bound(std::string(title(method)), reason);
  return {method, none, none};
}

/// The exact KL, or why the distributions cannot be compared at this time.
KlBound exact_bound(const OuPair& pair, double time) {
  try {
    return {exact_kl(pair, time), {}};
  } catch (const NumericalFailure& failure) {
    return no_bound("Gaussian KL, closed form", failure.advice());
  }
}

void add_linear(const OuPair& pair, double time, std::vector<PairBound>& bounds) {
  const OuPair reversed = swapped(pair);
  bounds.push_back({BoundMethod::exact, exact_bound(pair, time), exact_bound(reversed, time)});
  const bool rounded = difference_is_rounded(pair.p, pair.q);
  if (rounded || OuDistribution(pair.p, pair.start_p).lost_digits() ||
      OuDistribution(pair.q, pair.start_q).lost_digits()) {
    const std::string reason = rounded ? kRoundedDifference
                                       : "the eigenvalues of A are too far apart for double "
                                         "precision: rescale the parameters, or "
                                         "standardise the columns";
    bounds.push_back(neither(BoundMethod::path, reason));
    bounds.push_back(neither(BoundMethod::contractive, reason));
    return;
  }
  if (!same_matrix(pair.p.noise, pair.q.noise)) {  // else all three are the path bound
    EntropyRateBounds forward = entropy_rate_bounds(pair, time);
    EntropyRateBounds reverse = entropy_rate_bounds(reversed, time);
    bounds.push_back({BoundMethod::primal, std::move(forward.primal), std::move(reverse.primal)});
    bounds.push_back({BoundMethod::dual, std::move(forward.dual), std::move(reverse.dual)});
    bounds.push_back({BoundMethod::minimum, std::move(forward.pointwise_minimum),
                      std::move(reverse.pointwise_minimum)});
  }
  bounds.push_back({BoundMethod::path, path_bound(pair, time), path_bound(reversed, time)});
  bounds.push_back({BoundMethod::contractive, best_contractive_bound(pair, time).bound,
                    best_contractive_bound(reversed, time).bound});
  bounds.push_back({BoundMethod::matched, matched_process_bound(pair, time),
                    matched_process_bound(reversed, time)});
}

/// The pair with both sides exchanged, as far as bounds from formulas look at it.
SdePair reversed(const SdePair& pair) { return {pair.q, pair.p, pair.shares_noise}; }

void add_matched_constants(const SdePair& pair, double time, std::vector<PairBound>& bounds) {
  if (pair.model_bounds) {
    const auto [forward, reverse] = pair.model_bounds(time);
    bounds.push_back({BoundMethod::matched_constants, forward, reverse});
    return;
  }
  if (pair.linear || pair.p.diffusion.formulas == nullptr || pair.q.diffusion.formulas == nullptr) {
    return;
  }
  if (time == kInf) {
    bounds.push_back({BoundMethod::stationary, stationary_kl(pair), stationary_kl(reversed(pair))});
  }
  bounds.push_back({BoundMethod::matched_constants, matched_constants_bound(pair, time),
                    matched_constants_bound(reversed(pair), time)});
}

void add_sensitivity(const SdePair& pair, double time, std::vector<PairBound>& bounds) {
  const Known<GdpBound> gdp = gdp_bound(pair, time);
  if (!gdp.value) {
    bounds.push_back(neither(BoundMethod::sensitivity, gdp.reason));
    return;
  }
  KlBound bound{gdp.value->kl, {}};
  if (!std::isfinite(gdp.value->mu.value)) {
    bound.reason = "no drift is proven contractive, so the bound grows with time without end";
  }
  bounds.push_back({BoundMethod::sensitivity, bound, bound});
}

void add_constants(const SdePair& pair, double time, std::vector<PairBound>& bounds) {
  if (!pair.constants.value) {
    bounds.push_back(neither(BoundMethod::constants, pair.constants.reason));
    return;
  }
  const auto& [forward, reverse, start] = *pair.constants.value;
  if (forward.variance == forward.variance_prime) {
    bounds.push_back({BoundMethod::constants, kl_bound_finite_time(forward, time),
                      kl_bound_finite_time(reverse, time)});
    bounds.push_back(
        {BoundMethod::constants_uniform, kl_bound_uniform(forward), kl_bound_uniform(reverse)});
  } else if (time == kInf) {
    bounds.push_back(
        {BoundMethod::constants, kl_bound_stationary(forward), kl_bound_stationary(reverse)});
  } else {
    bounds.push_back({BoundMethod::constants, kl_bound_unequal(forward, start, time),
                      kl_bound_unequal(reverse, start, time)});
  }
}

void add_stationary(const SdePair& pair, double time, std::vector<PairBound>& bounds) {
  if (time < kInf) return;
  if (!pair.stationary.value) {
    if (!pair.stationary.reason.empty()) {
      bounds.push_back(neither(BoundMethod::local, pair.stationary.reason));
    }
    return;
  }
  const std::string method(title(BoundMethod::local));
  const char* none =
      "the distribution is too wide for the curvature near the minimiser; use less noise";
  const auto& [forward, reverse] = *pair.stationary.value;
  bounds.push_back({BoundMethod::local, finite_kl_bound(forward, method, none),
                    finite_kl_bound(reverse, method, none)});
}

}  // namespace

const PairBound* best_proven(const std::vector<PairBound>& methods, KlBound PairBound::*direction) {
  const PairBound* best = nullptr;
  for (const PairBound& method : methods) {
    const KlBound& bound = method.*direction;
    const bool proven = bound.kl.claim == Claim::exact || bound.kl.claim == Claim::upper_bound;
    if (!proven || method.method == BoundMethod::exact) continue;
    if (!bound.reason.empty() || !std::isfinite(bound.kl.value.value())) continue;
    if (best == nullptr || bound.kl.value < (best->*direction).kl.value) best = &method;
  }
  return best;
}

Claimed<Nats> best_proven_kl(const std::vector<PairBound>& methods, KlBound PairBound::*direction) {
  const PairBound* best = best_proven(methods, direction);
  if (best != nullptr) return (best->*direction).kl;
  return {Nats{kInf}, Claim::upper_bound, "no proven bound"};
}

SmoothStart smoothness(const GaussianDistribution& start) {
  const VectorXd values = spectrum_of(dense(start.covariance)).values;
  const double least = values.minCoeff();
  return {least > 0.0 ? values.cwiseInverse().sum() : kInf, 2.0 * std::max(0.0, values.maxCoeff())};
}

SdePair linear_pair(const OuPair& pair) {
  SdePair result{{linear_diffusion(pair.p), pair.start_p},
                 {linear_diffusion(pair.q), pair.start_q}};
  result.linear = pair;
  result.sensitivity = sensitivity_of(pair);
  result.constants = constants_of(pair);
  return result;
}

bool same_start(const SdePair& pair) { return same_distribution(pair.p.start, pair.q.start); }

bool same_noise(const SdePair& pair) {
  if (pair.shares_noise) return true;
  const Covariance* p = constant_noise(pair.p.diffusion);
  const Covariance* q = constant_noise(pair.q.diffusion);
  return p != nullptr && q != nullptr && same_matrix(*p, *q);
}

Known<Covariance> common_noise(const SdePair& pair) {
  const Covariance* p = constant_noise(pair.p.diffusion);
  const Covariance* q = constant_noise(pair.q.diffusion);
  if (p == nullptr || q == nullptr) return {{}, "needs constant noise"};
  if (!same_matrix(*p, *q)) return {{}, "needs equal noise"};
  if (!is_definite(*p)) return {{}, "needs noise in every direction"};
  return {*p, {}};
}

Known<GdpBound> gdp_bound(const SdePair& pair, double time) {
  const Known<Covariance> noise = common_noise(pair);
  if (!noise.value) return {{}, noise.reason};
  if (!same_start(pair)) return {{}, "needs a common start"};
  if (!pair.sensitivity.value) return {{}, pair.sensitivity.reason};
  const double rate = std::max(contraction_rate(pair.p.diffusion, *noise.value),
                               contraction_rate(pair.q.diffusion, *noise.value));
  GdpBound bound =
      langevin_gdp(pair.sensitivity.value->value, std::isfinite(rate) ? rate : 0.0, time);
  const auto& assumed = pair.sensitivity.value->assumptions;
  bound.mu.assumptions.insert(bound.mu.assumptions.end(), assumed.begin(), assumed.end());
  bound.kl.assumptions = bound.mu.assumptions;
  return {std::move(bound), {}};
}

std::vector<PairBound> closed_form_bounds(const SdePair& pair, double time) {
  require_non_negative("time", time, Where::here());
  std::vector<PairBound> bounds;
  if (pair.linear) add_linear(*pair.linear, time, bounds);
  add_matched_constants(pair, time, bounds);
  add_sensitivity(pair, time, bounds);
  add_constants(pair, time, bounds);
  add_stationary(pair, time, bounds);
  return bounds;
}

}  // namespace sfumato
