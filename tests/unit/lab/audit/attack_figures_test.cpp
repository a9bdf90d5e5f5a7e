#include "sfumato/audit/attack_figures.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "lab/audit/ledger_tables.hpp"

namespace sfumato::lab {
namespace {

const ClaimedGuarantee kClaim{Epsilon(1.0), Delta(1e-3)};

/// The supremum over events of TPR - e^e FPR on the boundary of what a claim allows, by brute force.
double delta_by_hand(double e, double epsilon, double delta) {
  double largest = 0.0;
  for (int i = 0; i <= 200000; ++i) {
    const double fpr = i / 200000.0;
    const double tpr = std::min(
        {1.0, delta + std::exp(epsilon) * fpr, 1.0 - (1.0 - delta - fpr) / std::exp(epsilon)});
    largest = std::max(largest, tpr - std::exp(e) * fpr);
  }
  return largest;
}

TEST(ClaimedDeltas, AreTheLargestThatTheClaimAllows) {
  const std::vector<double> epsilons = {0.0, 0.3, 0.9, 1.0, 1.5};
  const Series series = claimed_deltas(kClaim, epsilons);
  for (std::size_t i = 0; i < epsilons.size(); ++i) {
    EXPECT_NEAR(series.y[i], delta_by_hand(epsilons[i], 1.0, 1e-3), 1e-5) << epsilons[i];
  }
}

TEST(ClaimedRates, KeepBothInequalitiesAndTouchOne) {
  const Series series = claimed_rates(kClaim, 0.005);
  EXPECT_DOUBLE_EQ(series.x.front(), 0.005);
  EXPECT_DOUBLE_EQ(series.x.back(), 1.0);
  EXPECT_DOUBLE_EQ(series.y.back(), 1.0);
  for (std::size_t i = 0; i < series.x.size(); ++i) {
    const double fpr = series.x[i], tpr = series.y[i], factor = std::exp(1.0);
    const double first = 1e-3 + factor * fpr - tpr;
    const double second = 1e-3 + factor * (1.0 - tpr) - (1.0 - fpr);
    EXPECT_GE(first, -1e-12);
    EXPECT_GE(second, -1e-12);
    EXPECT_NEAR(std::min(first, second) * (tpr < 1.0 ? 1.0 : 0.0), 0.0, 1e-12);
  }
}

ScoreSample separated(std::size_t models) {
  ScoreSample sample;
  for (std::size_t i = 0; i < models; ++i) {
    sample.with.push_back(10.0 + static_cast<double>(i));
    sample.without.push_back(-static_cast<double>(i));
  }
  return sample;
}

TEST(LargestDeltas, AreWhatAPerfectAttackShows) {
  const ScoreSample sample = separated(100);
  const Audit audit = audit_scores(sample, {});
  const std::vector<double> epsilons = epsilons_for(audit, kClaim);
  const Series most = largest_deltas(audit, epsilons);
  for (std::size_t i = 0; i < epsilons.size(); ++i) {
    EXPECT_GE(most.y[i], audit.delta(Epsilon(epsilons[i])).value.probability());
  }
  EXPECT_GT(epsilons.back(), audit.maximum_epsilon(Delta(1e-5)));
}

TEST(RocFigure, BeginsAtHalfAModelAndHasClaimCurveAndTest) {
  const ScoreSample sample = separated(100);
  const Audit audit = audit_scores(sample, {});
  const Figure figure = roc_figure({{"loss", sample, ""}}, 0.95, kClaim, {{"", &audit}});
  EXPECT_EQ(figure.mark(), Mark::steps);
  EXPECT_EQ(figure.x().from, 0.005);
  ASSERT_EQ(figure.series().size(), 3u);
  EXPECT_EQ(figure.mark_of(figure.series()[0]), Mark::region);
  EXPECT_TRUE(figure.series()[1].y_intervals);
  EXPECT_EQ(figure.mark_of(figure.series()[2]), Mark::points);
  ASSERT_TRUE(figure.series()[2].x_intervals);
  EXPECT_LE(figure.series()[2].x.size(), 8u);
  for (std::size_t i = 0; i < figure.series()[2].x.size(); ++i) {
    EXPECT_EQ(figure.series()[2].x[i], figure.series()[2].x_intervals->high[i]);
    EXPECT_EQ(figure.series()[2].y[i], figure.series()[2].y_intervals->low[i]);
  }
}

TEST(LossHistogram, FewModelsFarOffDoNotPressTheOthersIntoOneBin) {
  Pair<std::vector<double>> losses;
  for (int i = 0; i < 100; ++i) {
    losses.d.push_back(2.0 + 0.01 * i);
    losses.d_prime.push_back(2.1 + 0.01 * i);
  }
  EXPECT_EQ(loss_histogram("k", "t", losses).x().scale, Scale::linear);
  losses.d_prime.back() = 28.0;
  EXPECT_EQ(loss_histogram("k", "t", losses).x().scale, Scale::log);
  losses.d.front() = 0.0;  // has no place on a logarithmic axis
  EXPECT_EQ(loss_histogram("k", "t", losses).x().scale, Scale::linear);
}

}  // namespace
}  // namespace sfumato::lab
