#include "sfumato/account/accountant/renyi_conversion.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/math/tools/minima.hpp>
#include <cmath>
#include <string>
#include <vector>

#include "sfumato/core/error.hpp"
#include "sfumato/core/infinity.hpp"

namespace sfumato {
namespace {

// A sum of a few terms, each right to a few units in the last place, is off by less than this
// times the sum of their absolute values.
constexpr double kSlack = 4e-15;
constexpr double kLargestValue = 1e100;  // in place of infinity, where a search compares values

double require_order(const char* name, double order, const Where& where) {
  if (order > 1.0 && order < kInf) return order;
  throw InvalidArgument(fmt::format("{} = {} is not a finite number above 1", name, order),
                        "Give the order of a Renyi divergence that exceeds 1", where);
}

/// log of (1/(a-1)) (1 - 1/a)^a e^{(a-1)(renyi - eps)}, rounded up.
double log_delta(double renyi, double order, double epsilon) {
  if (renyi == kInf) return kInf;
  if (epsilon == kInf) return -kInf;
  const double over = order - 1.0;
  const double growth = over * renyi;
  const double decay = over * epsilon;
  // The two forms are equal; each is free of cancellation on its side of 2.
  const double first = order < 2.0 ? over * std::log(over) : order * std::log1p(-1.0 / order);
  const double second = order < 2.0 ? order * std::log(order) : std::log(over);
  const double slack = kSlack * (std::abs(first) + std::abs(second) + growth + decay);
  return first - second + (growth - decay) + slack;
}

double epsilon_at(double renyi, double order, double delta) {
  if (delta == 1.0) return 0.0;
  if (delta == 0.0 || renyi == kInf) return kInf;
  const double over = order - 1.0;
  const double first = std::log1p(-1.0 / order);
  const double second = (std::log(order) + std::log(delta)) / over;
  const double slack =
      kSlack * (renyi + std::abs(first) + (std::log(order) - std::log(delta)) / over);
  return std::max(0.0, renyi + first - second + slack);
}

double to_probability(double log_value) {
  if (log_value == -kInf) return 0.0;
  return std::min(1.0, std::nextafter(std::exp(log_value) * (1.0 + kSlack), kInf));
}

std::vector<std::string> assumptions() {
  return {"the given Renyi divergence is that of the pair or above it"};
}

struct Best {
  double value;
  double order;
};

/// Smallest value over the range; on a tie the smaller order wins, so that a divergence which is
/// infinite from some order on does not hide the finite part.
template <class F>
Best minimise_over_orders(const OrderRange& range, const Where& where, const F& value_at) {
  require_order("range.lowest", range.lowest, where);
  require_order("range.highest", range.highest, where);
  if (range.lowest > range.highest) {
    throw InvalidArgument(
        fmt::format("the orders [{}, {}] are an empty range", range.lowest, range.highest),
        "Give range.lowest <= range.highest", where);
  }
  Best best{value_at(range.lowest), range.lowest};
  const auto try_order = [&](double order) {
    const double value = value_at(order);
    if (value < best.value) best = {value, order};
    return value;
  };
  try_order(range.highest);
  // Over log(order - 1). Of equal values Brent's method keeps the lower half, so that an infinite part at high orders
  // is left behind; infinity itself would spoil its parabolas.
  const auto value_at_log = [&](double t) {
    return std::clamp(try_order(1.0 + std::exp(t)), -kLargestValue, kLargestValue);
  };
  constexpr int kBits = 17;  // flat at the minimum: 1e-5 in the order is 1e-10 in the value
  (void)boost::math::tools::brent_find_minima(value_at_log, std::log(range.lowest - 1.0),
                                              std::log(range.highest - 1.0), kBits);
  return best;
}

}  // namespace

Claimed<Delta> delta_from_renyi(Nats renyi, double order, Epsilon epsilon) {
  require_order("order", order, Where::here());
  return {Delta(to_probability(log_delta(renyi.value(), order, epsilon.nats()))),
          Claim::upper_bound, fmt::format("Renyi divergence of order {:.6g}", order),
          assumptions()};
}

Claimed<Epsilon> epsilon_from_renyi(Nats renyi, double order, Delta delta) {
  require_order("order", order, Where::here());
  return {Epsilon(epsilon_at(renyi.value(), order, delta.probability())), Claim::upper_bound,
          fmt::format("Renyi divergence of order {:.6g}", order), assumptions()};
}

Claimed<Epsilon> epsilon_from_renyi_curve(const RenyiCurve& curve, Delta delta,
                                          const OrderRange& range) {
  const Best best = minimise_over_orders(range, Where::here(), [&](double order) {
    return epsilon_at(curve(order).value(), order, delta.probability());
  });
  return {Epsilon(best.value), Claim::upper_bound,
          fmt::format("Renyi divergence, best order {:.6g}", best.order), assumptions()};
}

}  // namespace sfumato
