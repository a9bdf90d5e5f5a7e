#include "sfumato/account/contour/gauss_legendre.hpp"

#include <algorithm>

#include "sfumato/core/infinity.hpp"
#include "sfumato/math/special.hpp"

namespace sfumato::gauss_legendre {
namespace {

using trapezoidal::located;
using trapezoidal::Located;
using trapezoidal::Range;

/// The error of n points, f being analytic in an ellipse whose half-axes sum to rho half-widths (Spec §17.3):
///   half-width (64/15) max|f| rho^{-2n} / (1 - rho^-2)
double log_error_of(const Integrand& f, Range panel) {
  double best = kInf;
  const double middle = 0.5 * (panel.low + panel.high), half = 0.5 * panel.length();
  for (const double rho : {1.3, 1.7, 2.3, 3.2, 4.5, 6.5, 10.0, 16.0, 26.0}) {
    const double wide = 0.5 * half * (rho + 1.0 / rho), high = 0.5 * half * (rho - 1.0 / rho);
    const double size = f.log_on_ellipse({{middle - wide, middle + wide}, high});
    best = std::min(best, std::log(64.0 / 15.0 * half) + size - 2.0 * kPoints * std::log(rho) -
                              std::log1p(-1.0 / (rho * rho)));
  }
  return best;
}

}  // namespace

Panels placed(const Integrand& f, double log_relative) {
  const Located found = located(f.range, f.log_at, f.most_on);
  Panels result{{}, f.range.length(), found.best};
  const double allowed = found.best + log_relative;
  double length = 1.0;
  for (const Range& part : found.parts) {
    for (double at = part.low; at < part.high;) {
      // As long as twice the last one and as short as its own bound asks: where the density has an edge panels become short by themselves.
      length = std::min(2.0 * length, part.high - at);
      double log_error = log_error_of(f, {at, at + length});
      while (!(log_error <= allowed) && length > 1e-7 * (1.0 + std::fabs(at))) {
        length *= 0.6;
        log_error = log_error_of(f, {at, at + length});
      }
      const double end = part.high - (at + length) < 1e-3 * length ? part.high : at + length;
      result.panels.push_back({at, end});
      result.log_error = log_add_exp(result.log_error,
                                     end == at + length ? log_error : log_error_of(f, {at, end}));
      if (result.panels.size() > kMostPanels) {
        result.log_error = kInf;
        return result;
      }
      at = end;
    }
    result.dropped -= part.length();
  }
  if (result.dropped <= 1e-12 * f.range.length())
    result.dropped = 0.0;  // the parts joined are the range
  return result;
}

double points(const Integrand& f, double k) {
  const std::size_t count = placed(f, log_relative(k)).panels.size();
  return count > kMostPanels ? kInf : static_cast<double>(kPoints * count);
}

}  // namespace sfumato::gauss_legendre
