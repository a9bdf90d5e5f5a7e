#pragma once

#include <boost/math/quadrature/gauss.hpp>
#include <cmath>
#include <functional>
#include <limits>
#include <vector>

#include "sfumato/account/contour/trapezoidal_rule.hpp"

/// Gauss-Legendre's rule on panels that are each as long as a proven bound of their error allows (Spec §17.3).
namespace sfumato::gauss_legendre {

inline constexpr int kPoints = 20;                 // of one panel
inline constexpr std::size_t kMostPanels = 20000;  // a distribution that needs more is not made

/// Around a panel with the foci at its ends: real parts of the ellipse, and its height.
struct Ellipse {
  trapezoidal::Range real;
  double height;
};

/// An integrand over an interval, by what panels ask of it.
struct Integrand {
  trapezoidal::Range range;
  std::function<double(double)> log_at;               ///< log |f(z + 0i)| for real z and s = s0
  std::function<double(trapezoidal::Range)> most_on;  ///< at least every log_at() of an interval
  std::function<double(Ellipse)>
      log_on_ellipse;  ///< at least log |f| there, for |Im s| <= reach; +inf beyond where f is analytic
};

struct Panels {
  std::vector<trapezoidal::Range> panels;
  double dropped;  ///< length that was left out
  double best;     ///< log of the largest value that was met
  double log_error = -std::numeric_limits<double>::infinity();
};

/// Panels over the parts that count, each as long as its error allows: e^log_relative of the largest value.
[[nodiscard]] Panels placed(const Integrand& f, double log_relative);

/// How many points they have for k steps; +inf where they are too many.
[[nodiscard]] double points(const Integrand& f, double k);

/// Relative to the largest value: the error of all panels is far below the rounding of k steps.
[[nodiscard]] inline double log_relative(double k) { return -44.0 - std::log(k); }

/// Calls use(z, log weight) for every point of a panel, from left to right.
template <class Use>
void for_points(trapezoidal::Range panel, Use&& use) {
  using Rule = boost::math::quadrature::gauss<double, kPoints>;
  const double middle = 0.5 * (panel.low + panel.high), half = 0.5 * panel.length();
  const auto& x = Rule::abscissa();
  const auto& w = Rule::weights();
  for (std::size_t i = x.size(); i-- > 0;) use(middle - half * x[i], std::log(half * w[i]));
  for (std::size_t i = 0; i < x.size(); ++i) use(middle + half * x[i], std::log(half * w[i]));
}

}  // namespace sfumato::gauss_legendre
