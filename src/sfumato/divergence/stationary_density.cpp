#include "sfumato/divergence/stationary_density.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <vector>

#include "sfumato/core/infinity.hpp"
#include "sfumato/divergence/make_kl_bound.hpp"
#include "sfumato/divergence/matched_pair.hpp"
#include "sfumato/divergence/ou_pair.hpp"
#include "sfumato/math/formula_range.hpp"
#include "sfumato/math/interval_arithmetic.hpp"
#include "sfumato/math/special.hpp"

namespace sfumato {
namespace {

const char* const kMethod = "stationary density, quadrature";

// Gauss-Legendre on [0, 1], five nodes.
constexpr std::array<double, 5> kNodes = {0.04691007703066800, 0.23076534494715845, 0.5,
                                          0.76923465505284155, 0.95308992296933200};
constexpr std::array<double, 5> kWeights = {0.11846344252809454, 0.23931433524968324,
                                            0.28444444444444444, 0.23931433524968324,
                                            0.11846344252809454};

/// Where the drift is proven to pull back: beyond `reach` on either side, at `speed` at least.
struct Pull {
  double reach;
  double speed;
};

/// What is known of two log densities  log p' = 2 b/Sigma  and  log q' = 2 b'/Sigma'  of one coordinate.
class LogSlopes {
 public:
  explicit LogSlopes(const SdePair& pair)
      : p_(pair.p.diffusion.formulas->drift.front()),
        q_(pair.q.diffusion.formulas->drift.front()),
        factor_p_(2.0 / dense(*constant_noise(pair.p.diffusion))(0, 0)),
        factor_q_(2.0 / dense(*constant_noise(pair.q.diffusion))(0, 0)) {
    sum_p_ = scaled(p_, factor_p_);
    sum_q_ = scaled(q_, factor_q_);
    gap_ = FormulaRange::add(sum_p_, sum_q_, -1.0);
  }

  [[nodiscard]] double p(double x) const { return at(p_, factor_p_, x); }
  [[nodiscard]] double q(double x) const { return at(q_, factor_q_, x); }

  /// Everything that they and their difference do between two points.
  struct Ranges {
    Interval p, q, gap;
  };
  [[nodiscard]] Ranges between(double left, double right) const {
    const std::vector<Interval> box = {{left, right}, {0.0, 0.0}};
    return {algebra_.value(sum_p_, box), algebra_.value(sum_q_, box), algebra_.value(gap_, box)};
  }

  /// Where both fall for good, in units of log density; empty if nowhere.
  [[nodiscard]] std::optional<Pull> pull() const {
    for (double reach = 1.0; reach <= 1e6; reach *= 2.0) {
      double speed = kInf;
      for (const FormulaRange::Sum* sum : {&sum_p_, &sum_q_}) {
        speed = std::min({speed, -algebra_.range(*sum, {{reach, kInf}, {0.0, 0.0}}).upper,
                          algebra_.range(*sum, {{-kInf, -reach}, {0.0, 0.0}}).lower});
      }
      if (speed > 0.0) return Pull{reach, speed};
    }
    return std::nullopt;
  }

 private:
  FormulaRange::Sum scaled(const Expression& formula, double factor) {
    return FormulaRange::multiply(algebra_.constant(decimal(factor)), algebra_.sum_of(formula));
  }
  static double at(const Expression& formula, double factor, double x) {
    const std::array<double, 2> values = {x, 0.0};
    return factor * formula.at(values);
  }

  const Expression& p_;
  const Expression& q_;
  double factor_p_, factor_q_;
  FormulaRange algebra_;
  FormulaRange::Sum sum_p_, sum_q_, gap_;
};

/// Panels of [-reach, reach] on which interval arithmetic proves the slopes to be nearly constant, so that no spike is
/// between the nodes; only the part outside of which both densities are below e^{-120} of their largest value.
class Panels {
 public:
  Panels(const LogSlopes& slopes, double reach) : slopes_(slopes) {
    constexpr int kFirst = 64;
    for (int i = 0; i < kFirst; ++i) {
      add(-reach + 2.0 * reach * i / kFirst, -reach + 2.0 * reach * (i + 1) / kFirst, panels_);
    }
  }

  /// Halves panels on which a log density, or the logarithm of the ratio, may change by more than its slope at one point
  /// says. False where that takes too many.
  bool refine(double most, double most_of_gap) {
    for (int sweep = 0; sweep < 60; ++sweep) {
      trim();
      std::vector<Panel> next;
      for (const Panel& panel : panels_) {
        const double length = panel.right - panel.left;
        const auto fine = [&](const Slope& slope, double enough) {
          // A jump stays as it is when its panel is halved: it costs a few more halvings, and is then exact.
          constexpr double kAtJumps = 1e-12;
          return width(slope.range) * length <= (slope.jumps ? kAtJumps : enough);
        };
        if (fine(panel.p, most) && fine(panel.q, most) && fine(panel.gap, most_of_gap) &&
            std::max(magnitude(panel.p.range), magnitude(panel.q.range)) * length <= 1.0) {
          next.push_back(panel);
          continue;
        }
        const double middle = 0.5 * (panel.left + panel.right);
        if (!(middle > panel.left && middle < panel.right)) return false;
        add(panel.left, middle, next, &panel);
        add(middle, panel.right, next, &panel);
      }
      if (next.size() == panels_.size()) return true;
      panels_ = std::move(next);
      constexpr std::size_t kMost = 100'000;
      if (panels_.size() > kMost) return false;
    }
    return false;
  }

  /// Whether there is something left at the ends of the reach.
  [[nodiscard]] bool reaches_the_end() const { return !cut_left_ || !cut_right_; }
  /// Ends of the panels, each divided into `parts`.
  [[nodiscard]] std::vector<double> ends(int parts) const {
    std::vector<double> result = {panels_.front().left};
    for (const Panel& panel : panels_) {
      for (int i = 1; i <= parts; ++i) {
        result.push_back(i == parts ? panel.right
                                    : panel.left + (panel.right - panel.left) * i / parts);
      }
    }
    return result;
  }

 private:
  struct Slope {
    Interval range;
    bool jumps;  ///< as wide as before the last halving
  };
  struct Panel {
    double left, right;
    Slope p, q, gap;
  };

  void add(double left, double right, std::vector<Panel>& to,
           const Panel* half_of = nullptr) const {
    const LogSlopes::Ranges now = slopes_.between(left, right);
    const auto slope = [&](Interval range, const Slope* before) {
      return Slope{range, before != nullptr && is_bounded(range) &&
                              width(range) > 0.75 * width(before->range)};
    };
    const auto before = [&](Slope Panel::*member) {
      return half_of != nullptr ? &(half_of->*member) : nullptr;
    };
    to.push_back({left, right, slope(now.p, before(&Panel::p)), slope(now.q, before(&Panel::q)),
                  slope(now.gap, before(&Panel::gap))});
  }

  /// Drops panels at either end in which both densities are proven to be negligible.
  void trim() {
    std::vector<bool> kept(panels_.size(), false);
    for (const bool is_p : {true, false}) mark(is_p, kept);
    const auto first = std::find(kept.begin(), kept.end(), true);
    const auto last = std::find(kept.rbegin(), kept.rend(), true).base();
    if (first == kept.end()) return;
    cut_left_ = cut_left_ || first != kept.begin();
    cut_right_ = cut_right_ || last != kept.end();
    panels_ = {panels_.begin() + (first - kept.begin()), panels_.begin() + (last - kept.begin())};
  }

  /// Marks panels whose density may be above e^{-120} of what it is proven to be at one point.
  void mark(bool is_p, std::vector<bool>& kept) const {
    constexpr double kNegligible = -120.0;
    const auto rise = [&](std::size_t i) {
      const Panel& panel = panels_[i];
      const Interval slope = is_p ? panel.p.range : panel.q.range;
      const double length = panel.right - panel.left;
      return Interval{slope.lower * length, slope.upper * length};
    };
    // From the highest end outwards, so that what is uncertain far away does not matter near it.
    std::size_t anchor = 0;
    double height = 0.0, top = 0.0;
    for (std::size_t i = 0; i < panels_.size(); ++i) {
      const Interval up = rise(i);
      height += is_bounded(up) ? 0.5 * (up.lower + up.upper) : 0.0;
      if (height > top) top = height, anchor = i + 1;
    }
    double upper = 0.0;
    for (std::size_t i = anchor; i < panels_.size(); ++i) {
      const Interval up = rise(i);
      if (!(upper + std::max(0.0, up.upper) < kNegligible)) kept[i] = true;
      upper += up.upper;
    }
    upper = 0.0;
    for (std::size_t i = anchor; i-- > 0;) {
      const Interval up = rise(i);
      if (!(upper + std::max(0.0, -up.lower) < kNegligible)) kept[i] = true;
      upper -= up.lower;
    }
  }

  const LogSlopes& slopes_;
  std::vector<Panel> panels_;
  bool cut_left_ = false, cut_right_ = false;
};

/// The logarithms of two densities, not scaled, at the nodes of panels.
struct LogDensities {
  std::vector<double> weight, p, q;
};

LogDensities log_densities(const LogSlopes& slopes, const std::vector<double>& ends) {
  LogDensities result;
  double sum_p = 0.0, sum_q = 0.0;  // at the left end of the panel
  const auto over = [&](double left, double length) {
    std::array<double, 2> sum = {0.0, 0.0};
    for (std::size_t k = 0; k < kNodes.size(); ++k) {
      const double x = left + length * kNodes[k];
      sum[0] += length * kWeights[k] * slopes.p(x);
      sum[1] += length * kWeights[k] * slopes.q(x);
    }
    return sum;
  };
  for (std::size_t i = 0; i + 1 < ends.size(); ++i) {
    const double left = ends[i], width = ends[i + 1] - ends[i];
    for (std::size_t k = 0; k < kNodes.size(); ++k) {
      const auto [rise_p, rise_q] = over(left, width * kNodes[k]);
      result.weight.push_back(width * kWeights[k]);
      result.p.push_back(sum_p + rise_p);
      result.q.push_back(sum_q + rise_q);
    }
    const auto [rise_p, rise_q] = over(left, width);
    sum_p += rise_p;
    sum_q += rise_q;
  }
  return result;
}

/// Scales to mass 1.
void normalise(std::vector<double>& log_density, const std::vector<double>& weight) {
  const double top = *std::max_element(log_density.begin(), log_density.end());
  double mass = 0.0;
  for (std::size_t i = 0; i < weight.size(); ++i)
    mass += weight[i] * std::exp(log_density[i] - top);
  const double shift = top + std::log(mass);
  for (double& value : log_density) value -= shift;
}

/// sum of p (r - 1 - log r) with r = q/p: no term is negative, so that nothing cancels.
double kl_of(const LogSlopes& slopes, const std::vector<double>& ends) {
  LogDensities at = log_densities(slopes, ends);
  normalise(at.p, at.weight);
  normalise(at.q, at.weight);
  double sum = 0.0;
  for (std::size_t i = 0; i < at.weight.size(); ++i) {
    const double log_ratio = at.q[i] - at.p[i], p = std::exp(at.p[i]);
    const double term = std::abs(log_ratio) < 0.2 ? p * psi_of_excess(std::expm1(log_ratio))
                                                  : std::exp(at.q[i]) - p * (1.0 + log_ratio);
    sum += at.weight[i] * term;
  }
  return sum;
}

KlBound one_dimension(const SdePair& pair) {
  const char* narrow = "the density is too narrow for the quadrature";
  try {
    const LogSlopes slopes(pair);
    const std::optional<Pull> pull = slopes.pull();
    if (!pull) return no_bound(kMethod, "a drift is not proven to pull back from far away");
    for (double reach = pull->reach; reach < 1e7; reach *= 1.5) {
      Panels panels(slopes, reach);
      double most = 2e-3, most_of_gap = kInf, before = kInf;
      if (!panels.refine(most, most_of_gap)) return no_bound(kMethod, narrow);
      // Beyond the reach densities fall at the proven speed: their mass there is e^{-120} of the largest, over it.
      if (panels.reaches_the_end() || pull->speed < 1e-9) continue;
      for (int i = 0; i < 5; ++i) {
        const double value = kl_of(slopes, panels.ends(1)), finer = kl_of(slopes, panels.ends(2));
        constexpr double kEnough = 1e-8;
        if (std::abs(finer - value) <= kEnough * finer + 1e-15 &&
            std::abs(finer - before) <= kEnough * finer + 1e-15) {
          return {{Nats{finer}, Claim::exact, kMethod}, {}};
        }
        // The difference is resolved as finely as it is small.
        before = finer;
        most *= 0.5;
        most_of_gap = std::min(1.0, std::max(1e-2 * std::sqrt(finer), 1e-7));
        if (!panels.refine(most, most_of_gap)) return no_bound(kMethod, narrow);
      }
      return no_bound(kMethod, narrow);
    }
    return no_bound(kMethod, "the density is too wide for the quadrature");
  } catch (const NumericalFailure& failure) {
    return no_bound(kMethod, failure.advice());
  }
}

/// Whether two equations that are the same are proven to come to the same distribution from their starts.
bool forgets_start(const SdePair& pair) {
  if (same_start(pair)) return true;
  const auto metrics = contraction_metrics(pair.p.diffusion, *constant_noise(pair.p.diffusion));
  return std::any_of(metrics.begin(), metrics.end(),
                     [](const MetricRate& metric) { return metric.kappa > 0.0; });
}

bool depends_on_time(const Diffusion& diffusion) {
  const auto time = static_cast<std::size_t>(diffusion.dimension);
  return std::any_of(diffusion.formulas->drift.begin(), diffusion.formulas->drift.end(),
                     [&](const Expression& formula) { return formula.depends_on(time); });
}

}  // namespace

KlBound stationary_kl(const SdePair& pair) {
  const auto blocks = independent_blocks(pair);
  if (blocks.empty()) return no_bound(kMethod, "needs drifts by formulas and constant noise");
  if (depends_on_time(pair.p.diffusion) || depends_on_time(pair.q.diffusion)) {
    return no_bound(kMethod, "a drift depends on time");
  }
  double sum = 0.0;
  for (const auto& block : blocks) {
    const SdePair part = restricted(pair, block);
    KlBound kl{{Nats{0.0}, Claim::exact, kMethod}, {}};
    const bool same = same_equation(part);
    if (same && forgets_start(part)) continue;
    if (part.linear) {
      try {
        kl.kl = exact_kl(*part.linear, kInf);
      } catch (const NumericalFailure& failure) {
        return no_bound(kMethod, failure.advice());
      }
    } else if (block.size() == 1) {
      kl = one_dimension(part);
    } else {
      kl = no_bound(kMethod,
                    "coordinates that depend on each other have no density in closed form here");
    }
    if (!kl.reason.empty()) return kl;
    sum += kl.kl.value.value();
  }
  return {{Nats{sum}, Claim::exact, kMethod}, {}};
}

}  // namespace sfumato
