#include "sfumato/audit/proportion_intervals.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/math/quadrature/gauss_kronrod.hpp>
#include <boost/math/special_functions/beta.hpp>
#include <boost/math/special_functions/erf.hpp>
#include <boost/math/tools/roots.hpp>
#include <cmath>
#include <cstdint>
#include <exception>
#include <numbers>

#include "sfumato/core/check.hpp"
#include "sfumato/core/error.hpp"

namespace sfumato {
namespace {

// Without promotion to long double, which costs ten times as much; kRounding covers the difference.
using Policy = boost::math::policies::policy<boost::math::policies::promote_double<false>>;
constexpr double kRounding = 1e-12;

void check(std::uint64_t successes, std::uint64_t trials, double tail, const Where& where) {
  if (trials == 0) {
    throw InvalidArgument("there are no trials", "Pass the outcomes of at least one", where);
  }
  if (successes > trials) {
    throw InvalidArgument(fmt::format("{} successes in {} trials", successes, trials),
                          "Successes are a part of the trials", where);
  }
  if (!(tail > 0.0 && tail < 1.0)) {
    throw InvalidArgument(fmt::format("tail = {} is not between 0 and 1", tail),
                          "Pass an error probability such as 0.025", where);
  }
}

/// Boost's inverse; its series stop converging somewhere beyond 10^8 trials.
template <class Inverse>
double quantile(const Inverse& inverse) {
  try {
    return inverse();
  } catch (const std::exception& error) {
    throw NumericalFailure(fmt::format("no beta quantile was found ({})", error.what()),
                           "Use fewer than 10^8 trials", Where::here("clopper_pearson"));
  }
}

}  // namespace

double clopper_pearson_lower(std::uint64_t successes, std::uint64_t trials, double tail) {
  check(successes, trials, tail, Where::here());
  if (successes == 0) return 0.0;
  const auto k = static_cast<double>(successes);
  const auto n = static_cast<double>(trials);
  const double bound = successes == trials ? std::exp(std::log(tail) / n) : quantile([&] {
    return boost::math::ibeta_inv(k, n - k + 1.0, tail, Policy());
  });
  return bound * (1.0 - kRounding);
}

double clopper_pearson_upper(std::uint64_t successes, std::uint64_t trials, double tail) {
  check(successes, trials, tail, Where::here());
  if (successes == trials) return 1.0;
  const auto k = static_cast<double>(successes);
  const auto n = static_cast<double>(trials);
  const double bound = successes == 0 ? -std::expm1(std::log(tail) / n) : quantile([&] {
    return boost::math::ibetac_inv(k + 1.0, n - k, tail, Policy());
  });
  return std::min(1.0, bound * (1.0 + kRounding));
}

ProbabilityInterval clopper_pearson(std::uint64_t successes, std::uint64_t trials,
                                    double confidence) {
  if (!(confidence > 0.0 && confidence < 1.0)) {
    throw InvalidArgument(fmt::format("confidence = {} is not between 0 and 1", confidence),
                          "Pass a probability such as 0.95");
  }
  const double tail = 0.5 * (1.0 - confidence);
  return {clopper_pearson_lower(successes, trials, tail),
          clopper_pearson_upper(successes, trials, tail)};
}

namespace {

using Policy = boost::math::policies::policy<boost::math::policies::promote_double<false>>;

struct Beta {
  double a, b;
  [[nodiscard]] double cdf(double x) const {
    if (x <= 0.0) return 0.0;
    if (x >= 1.0) return 1.0;
    return boost::math::ibeta(a, b, x, Policy());
  }
};

/// P[x > corner, y <= (1 - delta - x) / ratio], x and y independent. Integrated over z with
/// x = quantile at Phi(z), where the density is a normal one.
double beside_corner(const Beta& x, const Beta& y, double corner, double delta, double ratio) {
  const double tail = boost::math::ibetac(x.a, x.b, corner, Policy());
  if (tail < 1e-15) return 0.0;
  constexpr double kEnd = 8.0;
  const double start =
      tail >= 1.0 ? -kEnd
                  : std::max(-kEnd, std::numbers::sqrt2 * boost::math::erfc_inv(2.0 * tail));
  if (start >= kEnd) return 0.0;
  const auto integrand = [&](double z) {
    const double side = 0.5 * std::erfc(std::abs(z) / std::numbers::sqrt2);
    const double value = z < 0.0 ? boost::math::ibeta_inv(x.a, x.b, side, Policy())
                                 : boost::math::ibetac_inv(x.a, x.b, side, Policy());
    return std::exp(-0.5 * z * z) * y.cdf((1.0 - delta - value) / ratio);
  };
  using Rule = boost::math::quadrature::gauss_kronrod<double, 15>;
  return Rule::integrate(integrand, start, kEnd, 8, 1e-8) / std::sqrt(2.0 * std::numbers::pi);
}

/// P[ y + e^e x < 1 - delta  or  x + e^e y < 1 - delta ]: the two lines meet at x = y = corner, and
/// beyond it each is shallow in the other rate, which keeps the integrands smooth.
double below_lines(const Beta& x, const Beta& y, double delta, double ratio) {
  const double corner = (1.0 - delta) / (1.0 + ratio);
  return x.cdf(corner) * y.cdf(corner) + beside_corner(x, y, corner, delta, ratio) +
         beside_corner(y, x, corner, delta, ratio);
}

/// P[eps > e]: by the test or by its complement, which exclude each other.
double above(double e, double delta, const Beta& x, const Beta& y) {
  const double ratio = std::exp(e);
  return below_lines(x, y, delta, ratio) + below_lines({x.b, x.a}, {y.b, y.a}, delta, ratio);
}

}  // namespace

EpsilonInterval credible_epsilon(const TestCounts& counts, Delta delta, double credibility,
                                 Worlds worlds) {
  if (worlds == Worlds::coupled) {
    throw InvalidArgument("D and D' share their randomness, so their rates are not independent",
                          "Train them independently of each other, or use the confidence bounds");
  }
  if (!(credibility > 0.0 && credibility < 1.0)) {
    throw InvalidArgument(fmt::format("credibility = {} is not between 0 and 1", credibility),
                          "Pass a probability such as 0.95");
  }
  if (counts.positives == 0 || counts.negatives == 0 || counts.true_positives > counts.positives ||
      counts.false_positives > counts.negatives) {
    throw InvalidArgument(
        fmt::format("{} of {} and {} of {} models are in the event", counts.true_positives,
                    counts.positives, counts.false_positives, counts.negatives),
        "Both data sets need models, and no more in the event than there are");
  }
  const auto distribution = [](std::uint64_t errors, std::uint64_t trials) {
    return Beta{static_cast<double>(errors) + 0.5, static_cast<double>(trials - errors) + 0.5};
  };
  const Beta fnr = distribution(counts.positives - counts.true_positives, counts.positives);
  const Beta fpr = distribution(counts.false_positives, counts.negatives);
  // The epsilon that is exceeded with probability `level`.
  const auto quantile = [&](double level) {
    const auto excess = [&](double e) { return above(e, delta.probability(), fnr, fpr) - level; };
    if (excess(0.0) <= 0.0) return 0.0;
    double low = 0.0, high = 1.0;
    while (excess(high) > 0.0) {
      low = high;
      high *= 2.0;
    }
    std::uintmax_t iterations = 60;
    const auto root = boost::math::tools::toms748_solve(
        excess, low, high, [](double a, double b) { return b - a < 1e-8; }, iterations);
    return 0.5 * (root.first + root.second);
  };
  const double tail = 0.5 * (1.0 - credibility);
  const auto claimed = [&](double value) {
    return Claimed<Epsilon>{
        Epsilon(value),
        Claim::estimate,
        "joint beta posterior (Jeffreys), credible",
        {kIndependentModels, "models of D and of D' are independent of each other", "the prior"},
        credibility};
  };
  return {claimed(quantile(1.0 - tail)), claimed(quantile(tail))};
}

}  // namespace sfumato
