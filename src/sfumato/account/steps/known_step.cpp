#include "sfumato/account/steps/known_step.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sfumato/account/contour/rounding_unit.hpp"
#include "sfumato/account/contour/total_loss.hpp"
#include "sfumato/core/error.hpp"

namespace sfumato {

void RandomisedResponse::require_valid() const { require_positive_finite("eps0", eps0); }

/// Two points with the probabilities that are closest for their odds (Spec §17.4).
TiltedDistribution RandomisedResponse::tilted_distribution(double s0, double /*reach*/) const {
  const double log_wrong = -std::log1p(std::exp(eps0)), log_right = eps0 + log_wrong;
  DistributionTerms terms;
  for (const double sign : {1.0, -1.0}) {
    const double loss = sign * eps0;
    terms.add(2.0 + std::fabs(log_wrong), sign > 0.0 ? log_right : log_wrong, s0 * loss, loss, eps0,
              0.0);
  }
  return distribution_of(terms, true);
}

LossDistribution RandomisedResponse::loss_distribution() const {
  const double truth = 1.0 / (1.0 + std::exp(-eps0));
  const double lie = std::exp(-eps0) * truth;
  const auto exactly = [](double x) {
    return with_digits({x * (1.0 - 8.0 * kUnit), x * (1.0 + 8.0 * kUnit)});
  };
  return {{{eps0, exactly(truth)}, {-eps0, exactly(lie)}}, {}};
}

std::optional<LogEnclosure> RandomisedResponse::one_step_delta(double eps) const {
  if (eps <= -eps0) return log_around(-std::expm1(eps), 8.0 * kUnit);
  // (e^eps0 - e^eps) / (1 + e^eps0)
  return log_around(-std::expm1(eps - eps0) / (1.0 + std::exp(-eps0)),
                    8.0 * kUnit * (2.0 + (std::fabs(eps) + eps0) / (eps0 - eps)));
}

void MechanismRules<KnownStep>::require(const KnownStep& step) {
  if (std::isfinite(step.epsilon.nats())) return;
  throw InvalidArgument("step_epsilon is infinite", "Pass the epsilon that is proven for one step",
                        Where::key("step_epsilon"));
}

std::string MechanismRules<KnownStep>::describe(const KnownStep& step,
                                                const PrivateRelease& release) {
  return fmt::format("steps stated to be ({}, {})-private, {}", step.epsilon.nats(),
                     step.delta.probability(), count_text(release));
}

/// A group of g: (g e, d (e^{ge} - 1) / (e^e - 1)), step by step from neighbour to neighbour.
void MechanismRules<KnownStep>::compose(const KnownStep& step, const ReleaseSetting& setting,
                                        TotalLoss& loss) {
  const double k = setting.steps(), e = step.epsilon.nats(), group = setting.group();
  double failure = step.delta.probability();
  if (setting.group_size > 1) {
    failure *= e == 0.0 ? group : std::expm1(group * e) / std::expm1(e);
    failure = std::min(1.0, failure * (1.0 + 1e-14));
  }
  if (failure > 0.0) add_failures(loss, failure, k);
  if (e > 0.0) loss.steps.push_back(RandomisedResponse{group * e, k});
}

PrivateRelease MechanismRules<KnownStep>::read(ReleaseReader& reader) {
  const ReleaseFields& fields = reader.fields;
  PrivateRelease release{GaussianNoise{1.0}};
  if (!fields.step_epsilon) reader.missing("step_epsilon", "of one step");
  if (!fields.step_delta) reader.missing("step_delta", "of one step; 0 for pure privacy");
  release.sampler = fields.sampler.value_or(Sampler::full);
  release.steps = reader.steps(1.0);
  reader.raise();
  release.mechanism = KnownStep{Epsilon(*fields.step_epsilon), Delta(*fields.step_delta)};
  return release;
}

}  // namespace sfumato
