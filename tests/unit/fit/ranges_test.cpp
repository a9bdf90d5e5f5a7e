#include "sfumato/fit/ranges.hpp"

#include <gtest/gtest.h>

#include "support/synthetic_table.hpp"

namespace sfumato {
namespace {

/// 20,000 rows that fill a quarter of their range around its middle, and a target that fills an eighth from its low end.
SyntheticTable far_too_wide() {
  SyntheticTable made;
  made.table.features = {NumericColumn{"x", -4.0, 4.0}};
  made.table.target = "y";
  made.table.target_low = 0.0, made.table.target_high = 80.0;
  made.table.rows = 20'000;
  made.table.relation = NeighbouringRelation::zero_out;
  made.rows.features.resize(20'000, 2);
  made.rows.target.resize(20'000);
  for (Eigen::Index i = 0; i < 20'000; ++i) {
    const double share = static_cast<double>(i) / 20'000.0;
    made.rows.features.row(i) << 0.24 * (2.0 * share - 1.0), 1.0;
    made.rows.target(i) = -40.0 + 9.5 * share;
  }
  return made;
}

PublicTable narrowed(RangeMargin margin) {
  const SyntheticTable made = far_too_wide();
  ReleaseBits bits(ReleaseKey::from_seed(3));
  return release_ranges(made.rows, made.table, FitModel::ridge, 1.0, margin, NoiseMode::grid, bits);
}

TEST(Ranges, AreHalvedAsOftenAsTheRowsAllow) {
  const PublicTable found = narrowed(RangeMargin::none);
  const auto& x = std::get<NumericColumn>(found.features[0]);
  EXPECT_EQ(x.low, -1.0);
  EXPECT_EQ(x.high, 1.0);
  EXPECT_EQ(found.target_low, 0.0);
  EXPECT_EQ(found.target_high, 10.0);
}

TEST(Ranges, KeepAHalvingOfTheFeaturesWhereAMetricIsLearnt) {
  const PublicTable found = narrowed(RangeMargin::one_halving);
  const auto& x = std::get<NumericColumn>(found.features[0]);
  EXPECT_EQ(x.low, -2.0);
  EXPECT_EQ(x.high, 2.0);
  EXPECT_EQ(found.target_high, 10.0) << "noise is measured in it, whatever the metric";
  // Clipped gradients bound what a record does: a target beyond the range stays where it is, within what was declared.
  EXPECT_EQ(found.target_reach, 75.0);
  EXPECT_FALSE(narrowed(RangeMargin::none).target_reach.has_value());
}

/// The middle of a range that is far too wide would keep it so.
TEST(Ranges, AreNotHeldByMissingValues) {
  SyntheticTable made = far_too_wide();
  made.table.features = {NumericColumn{"x", 0.0, 8.0, MiddleOfRange{}}};
  made.rows.filled.setZero(20'000, 2);
  for (Eigen::Index i = 0; i < 20'000; ++i) {
    const bool missing = i % 10 == 0;
    made.rows.filled(i, 0) = missing;
    made.rows.features(i, 0) = missing ? 0.0 : -0.9;  // 0.4 of 8
  }
  ReleaseBits bits(ReleaseKey::from_seed(3));
  const auto high = [&](const BoundedRows& rows) {
    const PublicTable found = release_ranges(rows, made.table, FitModel::ridge, 1.0,
                                             RangeMargin::none, NoiseMode::grid, bits);
    return std::get<NumericColumn>(found.features[0]).high;
  };
  EXPECT_EQ(high(made.rows), 0.5);
  made.rows.filled.setZero();
  EXPECT_EQ(high(made.rows), 4.0) << "were they counted as values";
}

TEST(Ranges, OfAFitHaveTheMarginInWhitenedDescentAlone) {
  const SyntheticTable made = far_too_wide();
  FitSettings settings;
  settings.range_share = 0.1;
  Observer nobody;
  for (const FitMechanism mechanism : mechanisms_of(FitModel::ridge, NoiseMode::grid)) {
    const FitPlan plan = plan_fit(made.table, FitModel::ridge, mechanism, settings,
                                  {{Epsilon(8.0), Delta(1e-6)}, {}});
    const PrivateFit fit =
        private_fit(made.source(), made.table, plan, ReleaseKey::from_seed(4), nobody);
    const double high = std::get<NumericColumn>(fit.table.features[0]).high;
    EXPECT_EQ(high, mechanism == FitMechanism::whitened ? 2.0 : 1.0) << name(mechanism);
    EXPECT_EQ(fit.table.target_high, 10.0) << name(mechanism);
  }
}

}  // namespace
}  // namespace sfumato
