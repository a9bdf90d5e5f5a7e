#include "sfumato/account/contour/split_contour.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "sfumato/account/contour/chernoff.hpp"
#include "sfumato/account/contour/rounding_unit.hpp"
#include "sfumato/account/contour/split_transform.hpp"
#include "sfumato/core/infinity.hpp"
#include "sfumato/math/special.hpp"

namespace sfumato {
namespace {

constexpr double kMostSampled = 50.0;  // expected
constexpr double kNarrow = 1e-8;       // of the value: no other cut is tried
constexpr double kFarthest = 50.0;     // z of a sampled step: as far as grids go
constexpr double kNarrowest = 0.01;    // width of a cut
constexpr double kTerms = 6e6;         // of one contour

/// The steps of a ledger if all of them have sampled steps, and these are rare.
std::optional<std::vector<RatioStep>> sampled_steps_of(const TotalLoss& loss) {
  std::vector<RatioStep> steps;
  double sampled = 0.0;
  for (const StepLoss& any : loss.steps) {
    const auto ratio = std::visit([](const auto& s) { return s.as_ratio(); }, any);
    if (!ratio || ratio->direction == StepDirection::add) return std::nullopt;
    steps.push_back(*ratio);
    sampled += std::visit([](const auto& s) { return s.expected_sampled(); }, any);
  }
  if (steps.empty() || sampled > kMostSampled) return std::nullopt;
  return steps;
}

/// The z at which the loss of one step is `loss`.
double place_of(const RatioStep& step, double loss) {
  double low = 0.0, high = 1.0;
  while (step.loss_at(high).loss < loss && high < 1e6) high *= 2.0;
  while (step.loss_at(low).loss > loss && low > -1e6) low = 2.0 * low - 1.0;
  for (int i = 0; i < 40; ++i) {
    const double mid = 0.5 * (low + high);
    (step.loss_at(mid).loss < loss ? low : high) = mid;
  }
  return 0.5 * (low + high);
}

/// Chernoff's bound of the unsampled part, without -s eps, where it is about least for eps.
struct UnsampledBound {
  double s = 0.0, log = kInf;
};
UnsampledBound unsampled_bound(SplitTransform& transform, double eps) {
  double low = 1e-3, high = 100.0 * transform.highest_abscissa();
  UnsampledBound best{0.0, 0.0};  // delta <= 1
  for (int i = 0; i < 16 && high > 1.02 * low; ++i) {
    const double s = std::sqrt(low * high);
    const auto unsampled = transform.unsampled_at(s);
    if (!unsampled) {
      high = s;
      continue;
    }
    const double log = chernoff_term(s) + unsampled->log;
    if (log - s * eps < best.log - best.s * eps) best = {s, log};
    // The sign of the derivative of c(s) + K_A(s) - s eps, which is convex. Any s is a valid bound, so that sixteen steps are enough.
    (std::log(s / (1.0 + s)) + unsampled->mean < eps ? low : high) = s;
  }
  return best;
}

/// A cut with what it promises.
struct Judged {
  std::unique_ptr<SplitTransform> transform;
  Saddle at;
  UnsampledBound unsampled;
  double log_sampled, log_unsampled;
};

Judged judged(const std::vector<RatioStep>& steps, double mu_squared, double eps, double theta,
              double steepness, double start, Work* work) {
  std::vector<SplitPoint> cuts;
  bool is_possible = true;
  for (const RatioStep& step : steps) {
    // A step counts as sampled once its loss is the share theta of eps, and fully so before its loss alone is eps: what is left to A stays far
    // below eps, so that its Chernoff bound is small. The cut is smooth, because the rule in z needs an analytic integrand: the narrower it
    // is, the more points.
    const double at = place_of(step, theta * eps), end = place_of(step, eps);
    cuts.push_back({at, (end - at) / steepness});
    is_possible = is_possible && end < kFarthest && cuts.back().width > kNarrowest;
  }
  if (!is_possible) return {nullptr, {}, {}, -kInf, kInf};
  Judged cut{std::make_unique<SplitTransform>(steps, cuts, mu_squared, work), {}, {}, -kInf, kInf};
  cut.at = saddle(*cut.transform, eps, Strip::right, start);
  if (!std::isfinite(cut.at.at.value) || cut.at.is_capped) return cut;
  const double s = cut.at.s;
  // The size of the integral about: what the bound of the rest is compared with.
  cut.log_sampled = cut.at.at.value - s * eps - std::log(s) - std::log1p(s);
  cut.unsampled = unsampled_bound(*cut.transform, eps);
  cut.log_unsampled = cut.unsampled.log - cut.unsampled.s * eps;
  return cut;
}

}  // namespace

std::optional<SplitContour> SplitContour::at(const TotalLoss& loss, double eps, Work* work) {
  const auto steps = sampled_steps_of(loss);
  if (!steps || !(eps > 0.0)) return std::nullopt;
  struct Choice {
    double theta, steepness;
  };
  constexpr Choice kChoices[] = {{.5, 5},  {.5, 8},  {.35, 5}, {.35, 8}, {.25, 5},
                                 {.25, 8}, {.15, 5}, {.15, 8}, {.08, 8}};
  std::vector<Judged> cuts;  // each is judged once
  std::optional<SplitContour> best;
  double start = 1.0, least_width = kInf;
  // The first cut that is good enough is taken, unless its sampled steps decay too slowly for the work: then a steeper one that leaves more to
  // the unsampled part may be better.
  for (const double good : {1e-12, 1e-8, 1e-5, 1e-2}) {
    for (std::size_t i = 0; i < std::size(kChoices); ++i) {
      if (i == cuts.size()) {
        cuts.push_back(judged(*steps, loss.mu_squared, eps, kChoices[i].theta,
                              kChoices[i].steepness, start, work));
        if (std::isfinite(cuts[i].log_sampled)) start = cuts[i].at.s;
      }
      Judged& cut = cuts[i];
      if (!(cut.log_unsampled < cut.log_sampled + std::log(good)) || !(least_width > good))
        continue;
      work->terms = kTerms;
      if (auto contour = Contour::through(*cut.transform, cut.at, Strip::right, eps, work)) {
        SplitContour found(std::move(*contour), cut.unsampled.s, cut.unsampled.log);
        const LogEnclosure log = found.enclosure(eps);
        if (log.log_hi - log.log_lo < least_width) {
          least_width = log.log_hi - log.log_lo;
          best = std::move(found);
        }
        if (least_width < kNarrow) return best;
      }
      cut.log_unsampled = kInf;  // once is enough
      break;
    }
  }
  return best;
}

LogEnclosure SplitContour::enclosure(double eps) const {
  const LogEnclosure sampled = contour_.enclosure(eps);
  const double unsampled =
      log_unsampled_ - s_unsampled_ * eps + 8.0 * kUnit * (10.0 + s_unsampled_ * std::fabs(eps));
  return {sampled.log_lo, log_add_exp(sampled.log_hi, unsampled) + 4.0 * kUnit};
}

}  // namespace sfumato
