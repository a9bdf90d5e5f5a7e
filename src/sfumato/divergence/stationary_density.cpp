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

/// How far from 0 the drift is proven to pull back, on either side; empty if nowhere.
std::optional<double> pulled_from(const DriftFormulas& drift) {
  FormulaRange algebra;
  try {
    const FormulaRange::Sum b = algebra.sum_of(drift.drift.front());
    for (double reach = 1.0; reach <= 1e6; reach *= 2.0) {
      if (algebra.range(b, {{reach, kInf}, {0.0, kInf}}).upper < 0.0 &&
          algebra.range(b, {{-kInf, -reach}, {0.0, kInf}}).lower > 0.0) {
        return reach;
      }
    }
  } catch (const NumericalFailure&) {
  }
  return std::nullopt;
}

/// 2 b / Sigma of one coordinate.
class LogSlope {
 public:
  LogSlope(const Diffusion& diffusion)
      : drift_(*diffusion.formulas), factor_(2.0 / dense(*constant_noise(diffusion))(0, 0)) {}
  [[nodiscard]] double operator()(double x) const {
    const std::array<double, 2> values = {x, 0.0};
    return factor_ * drift_.drift.front().at(values);
  }

 private:
  const DriftFormulas& drift_;
  double factor_;
};

/// The logarithms of two densities, not scaled, at the nodes of panels over [-reach, reach].
struct LogDensities {
  std::vector<double> weight, p, q;
};

LogDensities log_densities(const LogSlope& p, const LogSlope& q, double reach, int panels) {
  LogDensities result;
  const double width = 2.0 * reach / panels;
  double sum_p = 0.0, sum_q = 0.0;  // at the left end of the panel
  const auto over = [](const LogSlope& slope, double left, double length) {
    double sum = 0.0;
    for (std::size_t k = 0; k < kNodes.size(); ++k)
      sum += kWeights[k] * slope(left + length * kNodes[k]);
    return length * sum;
  };
  for (int i = 0; i < panels; ++i) {
    const double left = -reach + width * i;
    for (std::size_t k = 0; k < kNodes.size(); ++k) {
      const double length = width * kNodes[k];
      result.weight.push_back(width * kWeights[k]);
      result.p.push_back(sum_p + over(p, left, length));
      result.q.push_back(sum_q + over(q, left, length));
    }
    sum_p += over(p, left, width);
    sum_q += over(q, left, width);
  }
  return result;
}

/// Scales to mass 1; false if mass is left at the ends.
bool normalise(std::vector<double>& log_density, const std::vector<double>& weight) {
  const double top = *std::max_element(log_density.begin(), log_density.end());
  double mass = 0.0;
  for (std::size_t i = 0; i < weight.size(); ++i)
    mass += weight[i] * std::exp(log_density[i] - top);
  const double shift = top + std::log(mass);
  for (double& value : log_density) value -= shift;
  return std::max(log_density.front(), log_density.back()) < top - shift - 80.0;
}

/// sum of p (r - 1 - log r) with r = q/p: no term is negative, so that nothing cancels.
double kl_of(const LogDensities& at) {
  double sum = 0.0;
  for (std::size_t i = 0; i < at.weight.size(); ++i) {
    sum += at.weight[i] * std::exp(at.p[i]) * psi_of_excess(std::expm1(at.q[i] - at.p[i]));
  }
  return sum;
}

KlBound one_dimension(const SdePair& pair) {
  const auto far_p = pulled_from(*pair.p.diffusion.formulas),
             far_q = pulled_from(*pair.q.diffusion.formulas);
  if (!far_p || !far_q)
    return no_bound(kMethod, "a drift is not proven to pull back from far away");
  const LogSlope p(pair.p.diffusion), q(pair.q.diffusion);
  // Beyond the reach both densities fall for good, and there is less than e^{-80} of the largest.
  for (double reach = std::max(*far_p, *far_q); reach < 1e7; reach *= 1.5) {
    LogDensities coarse = log_densities(p, q, reach, 1000);
    if (!normalise(coarse.p, coarse.weight) || !normalise(coarse.q, coarse.weight)) continue;
    LogDensities fine = log_densities(p, q, reach, 4000);
    if (!normalise(fine.p, fine.weight) || !normalise(fine.q, fine.weight)) continue;
    const double first = kl_of(coarse), value = kl_of(fine);
    if (!(std::abs(value - first) <= 1e-6 * value + 1e-14)) {
      return no_bound(kMethod, "the density is too narrow for the quadrature");
    }
    return {{Nats{value}, Claim::exact, kMethod}, {}};
  }
  return no_bound(kMethod, "the density is too wide for the quadrature");
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
    if (same_equation(part)) continue;
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
