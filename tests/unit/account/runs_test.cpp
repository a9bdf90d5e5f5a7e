// Distributions of the number of runs against their probabilities.
#include "sfumato/account/tuning/runs.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "sfumato/core/error.hpp"

namespace sfumato {
namespace {

const std::vector<RunsDistribution> kDistributions = {
    NegativeBinomialRuns{1.0, .1},  NegativeBinomialRuns{0.0, .01}, NegativeBinomialRuns{.5, .05},
    NegativeBinomialRuns{-.5, .02}, NegativeBinomialRuns{3.0, .3},  PoissonRuns{10.0}};

/// P(K = k), from the generating function by its own recursion.
std::vector<double> probabilities(const RunsDistribution& runs, int most) {
  std::vector<double> p(static_cast<std::size_t>(most) + 1, 0.0);
  if (const auto* poisson = std::get_if<PoissonRuns>(&runs)) {
    for (int k = 0; k <= most; ++k) {
      p[static_cast<std::size_t>(k)] =
          std::exp(k * std::log(poisson->mean) - poisson->mean - std::lgamma(k + 1.0));
    }
    return p;
  }
  const auto& of = std::get<NegativeBinomialRuns>(runs);
  // The coefficient of z^k of (1 - (1 - gamma) z)^-eta is the last one times (1 - gamma) (k - 1 + eta) / k.
  double value = 1.0, sum = 0.0;
  for (int k = 1; k <= most; ++k) {
    const double factor = of.eta == 0.0 && k == 1 ? 1.0 : (k - 1.0 + of.eta) / k;
    value *= (1.0 - of.gamma) * factor;
    p[static_cast<std::size_t>(k)] = value;
    sum += value;
  }
  for (double& each : p) each /= sum;
  return p;
}

TEST(RunsDistribution, FunctionsAreThoseOfTheProbabilities) {
  for (const RunsDistribution& runs : kDistributions) {
    const std::vector<double> p = probabilities(runs, 6000);
    double mean = 0.0;
    for (std::size_t k = 0; k < p.size(); ++k) mean += static_cast<double>(k) * p[k];
    EXPECT_NEAR(mean_of(runs), mean, 1e-9 * mean) << describe(runs);
    for (const double x : {0.0, 1e-6, .01, .3, .9, 1.0}) {
      double weight = 0.0, some = 0.0;
      for (std::size_t k = 0; k < p.size(); ++k) {
        const auto count = static_cast<double>(k);
        if (k > 0) weight += count * p[k] * std::pow(1.0 - x, count - 1.0);
        some += p[k] * (1.0 - std::pow(1.0 - x, count));
      }
      EXPECT_NEAR(selection_weight(runs, x), weight, 1e-9 * weight) << describe(runs) << " " << x;
      EXPECT_NEAR(probability_of_some(runs, x), some, 1e-9 * some) << describe(runs) << " " << x;
      if (x < 1.0) {
        EXPECT_NEAR(probability_of_each(runs, some), x, 1e-9) << describe(runs);
      }
    }
  }
}

TEST(RunsDistribution, MeansAreMet) {
  for (const double eta : {-.5, 0.0, .5, 1.0, 2.0}) {
    for (const double mean : {1.1, 3.0, 20.0, 1000.0}) {
      const double found = mean_of(negative_binomial_with_mean(eta, mean));
      EXPECT_NEAR(found, mean, 1e-9 * mean) << eta << " " << mean;
    }
  }
  EXPECT_THROW((void)negative_binomial_with_mean(1.0, 1.0), InvalidArgument);
  EXPECT_THROW(require_valid(NegativeBinomialRuns{-1.0, .1}), InvalidArgument);
  EXPECT_THROW(require_valid(NegativeBinomialRuns{1.0, 1.0}), InvalidArgument);
  EXPECT_THROW(require_valid(PoissonRuns{.5}), InvalidArgument);
  EXPECT_THROW(require_valid(FixedRuns{0}), InvalidArgument);
}

}  // namespace
}  // namespace sfumato
