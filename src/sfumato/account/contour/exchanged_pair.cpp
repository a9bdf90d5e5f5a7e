#include "sfumato/account/contour/exchanged_pair.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "sfumato/account/contour/rounding_unit.hpp"
#include "sfumato/core/infinity.hpp"

namespace sfumato {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kNatsForSpeed = 2.0;  // digits that are given away for a shorter contour

}  // namespace

std::optional<ExchangedContour> ExchangedContour::at(PlainTransform& exchanged, double eps,
                                                     Work* work) {
  const auto exponent = [&](const Saddle& at) { return at.at.value + at.s * eps; };
  Saddle at = saddle(exchanged, -eps, Strip::right, 1.0 / std::max(eps, 1e-6));
  if (!std::isfinite(at.at.value)) return std::nullopt;
  // To the right of the saddle aliases are farther away.
  for (const double factor : {3.0, 2.0, 1.5}) {
    const double s = factor * at.s;
    if (s > exchanged.highest_abscissa()) continue;
    const Saddle right{s, exchanged.at(s)};
    if (!(exponent(right) < exponent(at) + kNatsForSpeed + 2.0 * std::log(factor))) continue;
    at = right;
    break;
  }
  auto contour = Contour::through(exchanged, at, Strip::right, -eps, work);
  if (!contour) return std::nullopt;
  return ExchangedContour(std::move(*contour));
}

ExchangedContour::Ends ExchangedContour::scaled(double eps) const {
  // delta' - (1 - e^-eps): a difference of two numbers with a rounding each.
  const LogEnclosure other = contour_.enclosure(-eps);
  const double floor = -std::expm1(-eps);
  const auto end = [&](double log, double side) {
    const double value = std::exp(log);
    return value - floor + side * 8.0 * kUnit * (value * (1.0 + std::fabs(log)) + floor);
  };
  return {other.log_lo == -kInf ? -floor : end(other.log_lo, -1.0), end(other.log_hi, 1.0)};
}

LogEnclosure ExchangedContour::enclosure(double eps) const {
  const auto logarithm = [&](double x, double side) {
    return x > 0.0 ? eps + std::log(x) + side * 8.0 * kUnit * (4.0 + eps) : -kInf;
  };
  const auto [low, high] = scaled(eps);
  return {logarithm(low, -1.0), std::min(0.0, logarithm(high, 1.0))};
}

double ExchangedContour::log_slope(double eps) const {
  // d delta / d eps over e^eps: delta' - 1 - d delta'/d eps, the derivative being at -eps.
  const auto [low, high] = scaled(eps);
  const double value = 0.5 * (low + high), other = value - std::expm1(-eps);
  const double slope = value - std::exp(-eps) - other * contour_.log_slope(-eps);
  return value > 0.0 && slope < 0.0 ? slope / value : kNaN;
}

}  // namespace sfumato
