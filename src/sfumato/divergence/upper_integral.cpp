#include "sfumato/divergence/upper_integral.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/math/quadrature/gauss.hpp>
#include <boost/math/quadrature/gauss_kronrod.hpp>
#include <cmath>
#include <limits>
#include <queue>
#include <vector>

#include "sfumato/core/error.hpp"
#include "sfumato/core/infinity.hpp"

namespace sfumato {
namespace {

constexpr double kRelativeTolerance = 2e-12;
constexpr double kGrowth = 4.0;
// Each panel costs 21 evaluations. A kink (the pointwise minimum of two rates) takes about 25
// halvings.
constexpr int kMaxPanels = 400;
// Rounding of the nodes, the weights and the sum.
constexpr double kRounding = 32.0 * std::numeric_limits<double>::epsilon();

/// What a panel integrates over: s, sqrt(s) with ds = 2 r dr, or what is left until the end.
enum class Variable { time, root, left };

struct Panel {
  double from;
  double to;
  Variable variable;
  double value;
  double error;
  bool operator<(const Panel& other) const { return error < other.error; }
};

class Integrator {
 public:
  Integrator(const TimeFunction& function, double time) : function_(function), time_(time) {}

  [[nodiscard]] Panel panel(double from, double to, Variable variable) const {
    using Kronrod = boost::math::quadrature::gauss_kronrod<double, 21>;
    using Gauss = boost::math::quadrature::gauss<double, 10>;
    const double centre = 0.5 * (from + to);
    const double half = 0.5 * (to - from);
    double fine = Kronrod::weights()[0] * at(centre, variable);
    double coarse = 0.0;  // ten nodes: the centre is not one of them
    for (std::size_t i = 1; i < Kronrod::abscissa().size(); ++i) {
      const double offset = half * Kronrod::abscissa()[i];
      const double pair = at(centre - offset, variable) + at(centre + offset, variable);
      fine += Kronrod::weights()[i] * pair;
      if (i % 2 == 1) coarse += Gauss::weights()[i / 2] * pair;
    }
    const double error = fine < kInf ? half * std::abs(fine - coarse) : 0.0;
    return {from, to, variable, half * fine, error};
  }

 private:
  [[nodiscard]] double at(double x, Variable variable) const {
    double value = 0.0;
    switch (variable) {
      case Variable::time: value = function_(x, time_ - x); break;
      case Variable::root: value = 2.0 * x * function_(x * x, time_ - x * x); break;
      case Variable::left: value = function_(time_ - x, x); break;
    }
    if (std::isnan(value)) {
      throw NumericalFailure("the integrand is NaN", "Check the constants for extreme sizes",
                             Where::here("upper_integral"));
    }
    return value;
  }

  const TimeFunction& function_;
  double time_;
};

/// Lengths that grow by kGrowth from `first` and fill `total`, shortest first.
std::vector<double> panels_filling(double total, double first) {
  std::vector<double> ends;
  // However short `first` is beside `total`: all of the integral may lie there.
  const double smallest = std::numeric_limits<double>::min();
  for (double end = std::max(first, smallest); end < 0.75 * total; end *= kGrowth) {
    ends.push_back(end);
  }
  ends.push_back(total);
  return ends;
}

}  // namespace

double upper_integral(const TimeFunction& function, double time, const TimeScales& scales) {
  if (!(time >= 0.0 && time < kInf)) {
    throw InvalidArgument(fmt::format("time = {} is negative, infinite or NaN", time),
                          "Pass a finite elapsed time");
  }
  if (time == 0.0) return 0.0;
  const Integrator integrator(function, time);
  const bool layered = scales.at_end < time;
  const double middle = layered ? 0.5 * time : time;
  std::priority_queue<Panel> panels;
  double from = 0.0;
  for (const double to : panels_filling(middle, scales.at_start)) {
    panels.push(from == 0.0 ? integrator.panel(0.0, std::sqrt(to), Variable::root)
                            : integrator.panel(from, to, Variable::time));
    from = to;
  }
  if (layered) {
    from = 0.0;
    for (const double to : panels_filling(time - middle, scales.at_end)) {
      panels.push(integrator.panel(from, to, Variable::left));
      from = to;
    }
  }
  double value = 0.0;
  double error = 0.0;
  for (auto rest = panels; !rest.empty(); rest.pop()) {
    value += rest.top().value;
    error += rest.top().error;
  }
  while (error > kRelativeTolerance * value && value < kInf &&
         panels.size() < static_cast<std::size_t>(kMaxPanels)) {
    const Panel worst = panels.top();
    const double half = 0.5 * (worst.from + worst.to);
    if (!(worst.from < half && half < worst.to)) break;
    panels.pop();
    const Panel left = integrator.panel(worst.from, half, worst.variable);
    const Panel right = integrator.panel(half, worst.to, worst.variable);
    // Halving a panel whose error is rounding does not help; nothing else will.
    const bool stuck = left.error + right.error > 0.5 * worst.error &&
                       worst.error < kRounding * std::abs(worst.value);
    value += (left.value + right.value) - worst.value;
    error += (left.error + right.error) - worst.error;
    panels.push(left);
    panels.push(right);
    if (stuck) break;
  }
  if (!(value < kInf)) return kInf;
  // Summed afresh, smallest error last: the updates above have cancelled.
  value = 0.0;
  error = 0.0;
  for (; !panels.empty(); panels.pop()) {
    value += panels.top().value;
    error += panels.top().error;
  }
  return value + error + kRounding * value;
}

}  // namespace sfumato
