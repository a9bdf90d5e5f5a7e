#include "sfumato/rows/row_risk.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "sfumato/divergence/gdp.hpp"
#include "sfumato/rows/row_views.hpp"

namespace sfumato {
namespace {

TEST(RowRisk, ViewsAreThoseOfTheRisk) {
  RowRisk row;
  const RowRiskOptions options{
      MinimiserRelease{Isotropic{1.0, 1}}, {}, {Epsilon{0.5}}, Delta{1e-3}};
  EXPECT_TRUE(std::isnan(row.advantage.value));
  set_views(row, Risk::from_gdp({1.5, Claim::upper_bound}), options);
  EXPECT_EQ(row.status, RowStatus::ok);
  EXPECT_NEAR(row.forward.kl.value, 0.5 * 1.5 * 1.5, 1e-14);
  EXPECT_NEAR(row.advantage.value, std::erf(1.5 / std::sqrt(8.0)), 1e-14);
  for (const DirectedRisk* view : {&row.forward, &row.reverse}) {
    ASSERT_EQ(view->delta.size(), 1U);
    EXPECT_NEAR(view->delta[0].value, gdp_delta(1.5, 0.5).delta, 1e-6);
    EXPECT_NEAR(view->epsilon.value, gdp_epsilon(1.5, Delta{1e-3}).nats(), 1e-9);
    EXPECT_EQ(view->epsilon.claim, Claim::upper_bound);
  }
}

TEST(RowRisk, StatusesHaveNames) {
  EXPECT_EQ(name(RowStatus::ok), "ok");
  EXPECT_EQ(name(RowStatus::no_model), "no_model");
  EXPECT_EQ(name(RowStatus::failed), "failed");
  EXPECT_EQ(name(RowStatus::not_computed), "not_computed");
}

}  // namespace
}  // namespace sfumato
