#include "sfumato/divergence/contractive_bound.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <unordered_map>

#include "sfumato/core/check.hpp"
#include "sfumato/core/infinity.hpp"
#include "sfumato/divergence/make_kl_bound.hpp"
#include "sfumato/divergence/minimise.hpp"
#include "sfumato/divergence/upper_integral.hpp"
#include "sfumato/sde/contraction.hpp"

namespace sfumato {
namespace {

const char* const kPath = "path bound";
const char* const kContractive = "contractive bound";
const char* const kOverflow = "the drift gap overflows before that time; ask for an earlier time";

/// B_kappa with panels for a rate of up to `sharpest`, so that several kappa share their nodes.
double weighted_integral(const DriftGap& gap, double kappa, double sharpest, double time) {
  const auto integrand = [&](double s, double left) {
    const double weight = std::exp(-kappa * left);
    return weight > 0.0 ? weight * gap.at(s) : 0.0;
  };
  const double end = sharpest > 0.0 ? 1.0 / sharpest : kInf;
  return upper_integral(integrand, time, {gap.time_scale, end}) / (1.0 + std::exp(-kappa * time));
}

std::string not_contractive(double kappa) {
  return fmt::format(
      "the second drift is not contractive in the metric of the noise (rate {:.6g}); rate 0 is "
      "used, which is the path bound",
      kappa);
}

/// Why the pair has no bound of Spec §6.2 or §6.3; empty when it has.
std::string obstacle(const OuPair& pair, double start) {
  if (start == kInf) return kStartsApart;
  if (!same_matrix(pair.p.noise, pair.q.noise)) {
    return "the noise covariances differ; use the entropy-rate bounds";
  }
  if (!is_definite(pair.p.noise)) {
    return "the noise covariance is singular; add noise to the empty directions";
  }
  return {};
}

}  // namespace

double path_bound(const DriftGap& gap, double time) {
  return 0.5 *
         upper_integral([&](double s, double) { return gap.at(s); }, time, {gap.time_scale, kInf});
}

double contractive_bound(const DriftGap& gap, double kappa, double time) {
  require_finite("kappa", require_non_negative("kappa", kappa));
  return weighted_integral(gap, kappa, kappa, time);
}

ContractiveBound best_contractive_bound(const DriftGap& gap, double kappa, double time) {
  require_finite("kappa", kappa);
  std::unordered_map<double, double> known;
  const DriftGap remembered{[&](double s) {
                              const auto found = known.find(s);
                              if (found != known.end()) return found->second;
                              return known.emplace(s, gap.at(s)).first->second;
                            },
                            gap.time_scale};
  const double rate = std::max(kappa, 0.0);
  const LeastValue best =
      minimise([&](double r) { return weighted_integral(remembered, r, rate, time); }, 0.0, rate);
  ContractiveBound result{finite_kl_bound(best.value, kContractive, kOverflow), kappa, best.at};
  if (kappa < 0.0) result.bound.kl.assumptions.push_back(not_contractive(kappa));
  return result;
}

KlBound path_bound(const OuPair& pair, double time) {
  require_non_negative("time", time);
  const double start = start_kl(pair.start_p, pair.start_q);
  if (const std::string why = obstacle(pair, start); !why.empty()) return no_bound(kPath, why);
  const OuDriftGap gap(pair.p, pair.start_p, pair.q);
  if (gap.vanishes()) return kl_bound(start, kPath);
  if (time == kInf) {
    return no_bound(kPath,
                    "the drifts differ for ever, so the KL of the paths grows without bound; "
                    "use the contractive bound, or a finite time");
  }
  const double value =
      start + path_bound({[&](double s) { return gap.at(s); }, gap.time_scale()}, time);
  return finite_kl_bound(value, kPath, kOverflow);
}

ContractiveBound best_contractive_bound(const OuPair& pair, double time) {
  require_non_negative("time", time);
  const double start = start_kl(pair.start_p, pair.start_q);
  if (const std::string why = obstacle(pair, start); !why.empty()) {
    return {no_bound(kContractive, why), 0.0, 0.0};
  }
  const OuDriftGap gap(pair.p, pair.start_p, pair.q);
  const double kappa = linear_contraction(pair.q.curvature, pair.p.noise);
  if (gap.vanishes()) return {kl_bound(start, kContractive), kappa, 0.0};
  if (time == kInf) {
    const double limit = gap.limit();
    if (kappa > 0.0 && limit < kInf) {  // the weight e^{-kappa u} forgets all but the limit
      return {kl_bound(start + limit / kappa, kContractive), kappa, kappa};
    }
    return {no_bound(kContractive, kappa > 0.0
                                       ? "the drift gap has no finite limit; ask for a finite time"
                                       : not_contractive(kappa) + "; ask for a finite time"),
            kappa, 0.0};
  }
  ContractiveBound result =
      best_contractive_bound({[&](double s) { return gap.at(s); }, gap.time_scale()}, kappa, time);
  if (result.bound.reason.empty()) {
    result.bound.kl.value = Nats{result.bound.kl.value.value() + start};
  }
  return result;
}

}  // namespace sfumato
