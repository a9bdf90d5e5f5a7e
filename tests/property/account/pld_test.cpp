// Two accountants that share nothing but the steps: their enclosures of random ledgers must intersect.
#include "sfumato/account/lattice/pld.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <random>
#include <vector>

#include "sfumato/account/accountant/profile.hpp"

namespace sfumato {
namespace {

class RandomLedgers {
 public:
  explicit RandomLedgers(unsigned seed) : engine_(seed) {}

  double between(double low, double high) {
    return std::uniform_real_distribution(low, high)(engine_);
  }
  double of_size(double low, double high) {
    return std::exp(between(std::log(low), std::log(high)));
  }
  int below(int n) { return std::uniform_int_distribution(0, n - 1)(engine_); }

  StepLoss step() {
    const double k = std::floor(of_size(1.0, 3e4));
    const double q = of_size(1e-3, 0.9), m = of_size(0.1, 2.0);
    const auto direction = static_cast<StepDirection>(below(3));
    switch (below(8)) {
      case 0:
        return GroupGaussian{q, m, 1 + below(4), std::ceil(k / 100.0),
                             direction == StepDirection::replace ? StepDirection::add : direction};
      case 1: return TwoSidedGaussian{q, m, k};
      case 2: return LaplaceStep{of_size(1e-2, 2.0), std::ceil(k / 100.0)};
      case 3: return RandomisedResponse{of_size(1e-2, 2.0), std::ceil(k / 100.0)};
      default: return SampledGaussian{q, m, k, direction};
    }
  }

  TotalLoss ledger() {
    TotalLoss loss;
    const int kinds = 1 + below(3);
    for (int i = 0; i < kinds; ++i) loss.steps.push_back(step());
    if (below(4) == 0) loss.mu_squared = of_size(1e-3, 10.0);
    if (below(8) == 0) add_failures(loss, of_size(1e-12, 1e-3), 1.0);
    if (below(8) == 0)
      add_noiseless(loss, of_size(1e-6, 1e-2), 3.0, static_cast<StepDirection>(below(3)));
    return loss;
  }

 private:
  std::mt19937_64 engine_;
};

TEST(Pld, EnclosuresOfBothAccountantsIntersect) {
  constexpr unsigned kSeed = 20260;
  constexpr int kLedgers = 60;
  RandomLedgers random(kSeed);
  std::vector<double> widths, others;
  int one_sided = 0;
  for (int i = 0; i < kLedgers; ++i) {
    const TotalLoss loss = random.ledger();
    // Where delta is neither near 1 nor below what doubles hold: around the mean of T, and above.
    const TotalCumulant at = cumulant(loss, 0.0);
    const double eps =
        loss.shift + at.mean + random.between(-1.0, 8.0) * std::sqrt(std::max(at.variance, 0.0));
    const LogEnclosure contour = delta_of(loss, eps).log;
    const LogEnclosure pld = pld_delta(loss, eps, {std::size_t{1} << 14});
    const auto where = [&] {
      return "seed " + std::to_string(kSeed) + ", ledger " + std::to_string(i) + ", eps " +
             std::to_string(eps);
    };
    ASSERT_FALSE(std::isnan(pld.log_lo) || std::isnan(pld.log_hi)) << where();
    EXPECT_LE(pld.log_lo, contour.log_hi) << where();
    EXPECT_GE(pld.log_hi, contour.log_lo) << where();
    if (std::isinf(pld.log_lo)) {
      ++one_sided;
    } else {
      widths.push_back(pld.log_hi - pld.log_lo);
    }
    others.push_back(contour.log_hi - contour.log_lo);
  }
  // How tight: reported, and bounded so that a loose answer cannot pass for agreement.
  std::sort(widths.begin(), widths.end());
  std::sort(others.begin(), others.end());
  ASSERT_FALSE(widths.empty());
  const double median = widths[widths.size() / 2];
  std::printf(
      "relative width of delta, median: lattice of 2^14 points %.1e, contour %.1e; only an upper "
      "end: %d of %d\n",
      median, others[others.size() / 2], one_sided, kLedgers);
  EXPECT_LT(median, 0.2);
  EXPECT_LT(one_sided, kLedgers / 3);
}

TEST(Pld, SplitLedgersAgree) {
  RandomLedgers random(7);
  for (int i = 0; i < 5; ++i) {
    const double q = random.of_size(1e-2, 0.5), m = random.of_size(0.3, 1.5),
                 eps = random.between(0.5, 3.0);
    const LogEnclosure whole =
        pld_delta({{SampledGaussian{q, m, 100}}}, eps, {std::size_t{1} << 13});
    const LogEnclosure parts = pld_delta({{SampledGaussian{q, m, 30}, SampledGaussian{q, m, 70}}},
                                         eps, {std::size_t{1} << 13});
    EXPECT_LE(whole.log_lo, parts.log_hi);
    EXPECT_LE(parts.log_lo, whole.log_hi);
    EXPECT_NEAR(whole.log_hi, parts.log_hi, 1e-5);  // where the lattice begins may differ
  }
}

}  // namespace
}  // namespace sfumato
