#include "sfumato/design/design.hpp"

#include <gtest/gtest.h>

#include "sfumato/design/average_design.hpp"

namespace sfumato {
namespace {

TEST(Design, RescalesAsOneOverTheBudget) {
  const Diagonal g{Eigen::Vector3d(9.0, 4.0, 1.0)};
  const Design unit = average_design(g, {.budget = trace_budget(3, 1.0)});
  const Design doubled = rescaled(unit, 2.0);
  const Design direct = average_design(g, {.budget = trace_budget(3, 2.0)});
  EXPECT_DOUBLE_EQ(doubled.value, direct.value);
  EXPECT_DOUBLE_EQ(*doubled.diagonal_value, *direct.diagonal_value);
  EXPECT_DOUBLE_EQ(doubled.budget, 2.0);
  EXPECT_DOUBLE_EQ(doubled.isotropic_value, direct.isotropic_value);
  EXPECT_TRUE(dense(doubled.covariance).isApprox(dense(direct.covariance), 1e-15));
  EXPECT_THROW((void)rescaled(unit, 0.0), InvalidArgument);
}

TEST(Design, NamesAndClaims) {
  EXPECT_EQ(name(DesignForm::low_rank), "low_rank");
  for (const DesignWarning warning :
       {DesignWarning::rank_deficient, DesignWarning::silent_coordinates,
        DesignWarning::dropped_direction, DesignWarning::not_converged}) {
    EXPECT_FALSE(describe(warning).empty());
  }
  Design design =
      average_design(Diagonal{Eigen::Vector2d(1.0, 1.0)}, {.budget = trace_budget(2, 1.0)});
  EXPECT_EQ(claimed_value(design).claim, Claim::exact);
  EXPECT_EQ(claimed_value(design).method, "optimal noise, closed form");
  design.iterations = 5;
  design.gap = 1e-7;
  EXPECT_NE(claimed_value(design).method.find("1e-07"), std::string::npos);
}

}  // namespace
}  // namespace sfumato
