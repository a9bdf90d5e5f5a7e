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

namespace sfumato {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kRelativeTolerance = 2e-12;
constexpr double kGrowth = 4.0;
// Each panel costs 21 evaluations. A kink (the pointwise minimum of two rates) takes about 25 halvings.
constexpr int kMaxPanels = 400;
// Rounding of the nodes, the weights and the sum.
constexpr double kRounding = 32.0 * std::numeric_limits<double>::epsilon();

struct Panel {
  double from;
  double to;
  bool in_root;  ///< the variable is sqrt(s), ds = 2 r dr
  double value;
  double error;
  bool operator<(const Panel& other) const { return error < other.error; }
};

class Integrator {
 public:
  explicit Integrator(const std::function<double(double)>& function) : function_(function) {}

  [[nodiscard]] Panel panel(double from, double to, bool in_root) const {
    using Kronrod = boost::math::quadrature::gauss_kronrod<double, 21>;
    using Gauss = boost::math::quadrature::gauss<double, 10>;
    const double centre = 0.5 * (from + to);
    const double half = 0.5 * (to - from);
    double fine = Kronrod::weights()[0] * at(centre, in_root);
    double coarse = 0.0;  // ten nodes: the centre is not one of them
    for (std::size_t i = 1; i < Kronrod::abscissa().size(); ++i) {
      const double offset = half * Kronrod::abscissa()[i];
      const double pair = at(centre - offset, in_root) + at(centre + offset, in_root);
      fine += Kronrod::weights()[i] * pair;
      if (i % 2 == 1) coarse += Gauss::weights()[i / 2] * pair;
    }
    const double error = fine < kInf ? half * std::abs(fine - coarse) : 0.0;
    return {from, to, in_root, half * fine, error};
  }

 private:
  [[nodiscard]] double at(double x, bool in_root) const {
    const double value = in_root ? 2.0 * x * function_(x * x) : function_(x);
    if (std::isnan(value)) {
      throw NumericalFailure(fmt::format("the integrand is NaN at time {}", in_root ? x * x : x),
                             "Check the constants for extreme sizes",
                             Where::here("upper_integral"));
    }
    return value;
  }

  const std::function<double(double)>& function_;
};

/// Lengths that grow by kGrowth from `first` and fill `total`, shortest first.
std::vector<double> panels_filling(double total, double first) {
  std::vector<double> ends;
  // 2^-60: below that a panel is a rounding error of the whole.
  const double smallest = std::max(total * 0x1p-60, std::numeric_limits<double>::min());
  for (double end = std::max(first, smallest); end < 0.75 * total; end *= kGrowth) {
    ends.push_back(end);
  }
  ends.push_back(total);
  return ends;
}

}  // namespace

double upper_integral(const std::function<double(double)>& function, double time,
                      const TimeScales& scales) {
  if (!(time >= 0.0 && time < kInf)) {
    throw InvalidArgument(fmt::format("time = {} is negative, infinite or NaN", time),
                          "Pass a finite elapsed time");
  }
  if (time == 0.0) return 0.0;
  const Integrator integrator(function);
  const bool layered = scales.at_end < time;
  const double first_half = layered ? 0.5 * time : time;
  std::priority_queue<Panel> panels;
  double from = 0.0;
  for (const double to : panels_filling(first_half, scales.at_start)) {
    const bool in_root = from == 0.0;
    panels.push(in_root ? integrator.panel(0.0, std::sqrt(to), true)
                        : integrator.panel(from, to, false));
    from = to;
  }
  if (layered) {
    double to = time;
    for (const double back : panels_filling(time - first_half, scales.at_end)) {
      const double start = back == time - first_half ? first_half : time - back;
      if (start < to) panels.push(integrator.panel(start, to, false));
      to = start;
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
    const double middle = 0.5 * (worst.from + worst.to);
    if (!(worst.from < middle && middle < worst.to)) break;
    panels.pop();
    const Panel left = integrator.panel(worst.from, middle, worst.in_root);
    const Panel right = integrator.panel(middle, worst.to, worst.in_root);
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
