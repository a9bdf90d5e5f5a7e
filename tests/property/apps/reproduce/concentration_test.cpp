#include "reproduce/concentration.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <random>

namespace sfumato::apps {
namespace {

constexpr int kCases = 2000;
constexpr unsigned kSeed = 4711;

double normal_cdf(double x) { return 0.5 * std::erfc(-x / std::numbers::sqrt2); }

/// delta of N(0, 1) and N(mu, 1) (Spec §3.1).
double exact_delta(double mu, double epsilon) {
  return normal_cdf(0.5 * mu - epsilon / mu) -
         std::exp(epsilon) * normal_cdf(-0.5 * mu - epsilon / mu);
}

TEST(ConcentrationProperty, ItHoldsAndTheWhitenedVersionIsTheSmaller) {
  std::mt19937_64 engine(kSeed);
  const auto log_uniform = [&engine](double low, double high) {
    return std::exp(std::uniform_real_distribution<double>(std::log(low), std::log(high))(engine));
  };
  for (int i = 0; i < kCases; ++i) {
    Eigen::VectorXd difference(3);
    Eigen::VectorXd variances(3);
    for (int j = 0; j < 3; ++j) {
      difference(j) = log_uniform(1e-2, 3.0);
      variances(j) = log_uniform(0.1, 10.0);
    }
    const double epsilon = log_uniform(1e-2, 50.0);
    SCOPED_TRACE(::testing::Message()
                 << "seed " << kSeed << " case " << i << ": difference " << difference.transpose()
                 << " variances " << variances.transpose() << " eps " << epsilon);
    const Covariance covariance = Diagonal{variances};
    const double mu = std::sqrt(difference.cwiseAbs2().cwiseQuotient(variances).sum());
    const auto value = [](const Claimed<Delta>& bound) { return bound.value.probability(); };
    const double whitened =
        value(delta_from_concentration_whitened(difference, covariance, Epsilon(epsilon)));
    const double printed =
        value(delta_from_concentration_as_printed(difference, covariance, Epsilon(epsilon)));
    EXPECT_LE(whitened, printed * (1.0 + 1e-12));
    EXPECT_GE(whitened, exact_delta(mu, epsilon) - 1e-15);
    if (epsilon > 0.5 * mu * mu) {
      EXPECT_GE(whitened, 2.0 * exact_delta(mu, epsilon) - 1e-15);
    }
  }
}

}  // namespace
}  // namespace sfumato::apps
