#include "sfumato/audit/clopper_pearson.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/math/special_functions/beta.hpp>
#include <cmath>
#include <exception>

#include "sfumato/core/check.hpp"

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

}  // namespace sfumato
