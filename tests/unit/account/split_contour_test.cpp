// A cut between unsampled and sampled parts (Spec §18.5), against 50 digits.
#include "sfumato/account/contour/split_contour.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "support/accounting_reference.hpp"

namespace sfumato {
namespace {

using reference::Real;
using enum StepDirection;

TEST(SplitContour, EnclosesTwoRareSteps) {
  for (const auto& [q, m, eps] : {std::tuple{1e-3, 1.0, .5}, {.01, 1.0 / .6, 2.8}}) {
    Work work;
    const auto contour = SplitContour::at({{SampledGaussian{q, m, 2, remove}}}, eps, &work);
    ASSERT_TRUE(contour) << q << " " << m;
    const Real truth = log(reference::two_step_delta(q, m, remove, eps));
    const LogEnclosure found = contour->enclosure(eps);
    EXPECT_LE(Real(found.log_lo), truth) << q << " " << m << " " << eps;
    EXPECT_GE(Real(found.log_hi), truth) << q << " " << m << " " << eps;
    EXPECT_LT(found.log_hi - found.log_lo, 1e-4) << q << " " << m << " " << eps;
  }
}

TEST(SplitContour, IsForStepsThatSampleAndHaveNoLargestLoss) {
  Work work;
  EXPECT_FALSE(SplitContour::at({{SampledGaussian{.01, 1, 2, add}}}, .5, &work));
  EXPECT_FALSE(SplitContour::at({{LaplaceStep{1.0, 2}}}, .5, &work));
  EXPECT_FALSE(SplitContour::at({{SampledGaussian{.5, 1, 1000, remove}}}, .5, &work));
  EXPECT_FALSE(SplitContour::at({{SampledGaussian{.01, 1, 2, remove}}}, 0.0, &work));
}

}  // namespace
}  // namespace sfumato
