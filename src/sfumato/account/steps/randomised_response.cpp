#include "sfumato/account/steps/randomised_response.hpp"

#include <cmath>

#include "sfumato/account/contour/numbers.hpp"

namespace sfumato {

void RandomisedResponse::require_valid() const { require_positive_finite("eps0", eps0); }

/// Two points with the probabilities that are closest for their odds (Spec §17.4).
TiltedLaw RandomisedResponse::tilted_law(double s0, double /*reach*/) const {
  const double log_wrong = -std::log1p(std::exp(eps0)), log_right = eps0 + log_wrong;
  LawTerms terms;
  for (const double sign : {1.0, -1.0}) {
    const double loss = sign * eps0;
    terms.add(2.0 + std::fabs(log_wrong), sign > 0.0 ? log_right : log_wrong, s0 * loss, loss, eps0,
              0.0);
  }
  return law_of(terms, true);
}

LossLaw RandomisedResponse::loss_law() const {
  const double truth = 1.0 / (1.0 + std::exp(-eps0));
  const double lie = std::exp(-eps0) * truth;
  const auto exactly = [](double x) {
    return MassBounds{x * (1.0 - 8.0 * kUnit), x * (1.0 + 8.0 * kUnit)};
  };
  return {{{eps0, exactly(truth)}, {-eps0, exactly(lie)}}, {}};
}

std::optional<LogEnclosure> RandomisedResponse::one_step_delta(double eps) const {
  if (eps <= -eps0) return log_around(-std::expm1(eps), 8.0 * kUnit);
  // (e^eps0 - e^eps) / (1 + e^eps0)
  return log_around(-std::expm1(eps - eps0) / (1.0 + std::exp(-eps0)),
                    8.0 * kUnit * (2.0 + (std::fabs(eps) + eps0) / (eps0 - eps)));
}

}  // namespace sfumato
