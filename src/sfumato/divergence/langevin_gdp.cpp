#include "sfumato/divergence/langevin_gdp.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "sfumato/core/check.hpp"
#include "sfumato/divergence/kl_bound.hpp"
#include "sfumato/divergence/make_kl_bound.hpp"

namespace sfumato {
namespace {

/// (2/kappa) tanh(kappa t/2), at most t.
double effective_time(double kappa, double time) {
  const double x = 0.5 * kappa * time;
  if (!(x > 1e-8)) return time;  // tanh(x)/x = 1 - x^2/3, and t is an upper bound
  return std::tanh(x) * 2.0 / kappa;
}

}  // namespace

GdpBound gdp_bound(double mu, std::string method, std::vector<std::string> assumptions) {
  mu *= kRoundedUp;
  Claimed<Nats> kl{Nats{0.5 * mu * mu}, Claim::upper_bound, "mu^2 / 2", assumptions};
  return {{mu, Claim::upper_bound, std::move(method), std::move(assumptions)}, std::move(kl)};
}

GdpBound langevin_gdp(double sensitivity, double kappa, double time) {
  require_non_negative("sensitivity", sensitivity);
  require_finite("kappa", kappa);
  require_non_negative("time", time);
  const double mu = sensitivity == 0.0 || time == 0.0
                        ? 0.0
                        : sensitivity * std::sqrt(effective_time(std::max(kappa, 0.0), time));
  std::vector<std::string> assumptions = {
      "the drifts differ by at most the sensitivity at every point"};
  if (kappa > 0.0) {
    assumptions.emplace_back("one of the drifts contracts at the given rate on the whole space");
  } else if (kappa < 0.0) {
    assumptions.push_back(
        fmt::format("the drifts are not contractive (rate {:.6g}); rate 0 is used", kappa));
  }
  return gdp_bound(mu, "uniform sensitivity of the flow", std::move(assumptions));
}

}  // namespace sfumato
