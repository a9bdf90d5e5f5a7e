#include "sfumato/account/contour/exchanged_pair.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "sfumato/account/contour/total_loss.hpp"
#include "support/accounting_reference.hpp"

namespace sfumato {
namespace {

using reference::Real;

TEST(ExchangedContour, EnclosesTwoRareSteps) {
  for (const auto& [q, m, eps] : {std::tuple{1e-3, 1.0, 0.0}, {.01, .5, 5e-3}}) {
    const TotalLoss loss{{SampledGaussian{q, m, 2, StepDirection::remove}}};
    Work work;
    const TotalLoss other = exchanged(loss);
    PlainTransform transform(other, &work);
    const auto contour = ExchangedContour::at(transform, eps, &work);
    ASSERT_TRUE(contour) << q << " " << m;
    const Real truth = log(reference::two_step_delta(q, m, StepDirection::remove, eps));
    const LogEnclosure found = contour->enclosure(eps);
    EXPECT_LE(Real(found.log_lo), truth) << q << " " << m << " " << eps;
    EXPECT_GE(Real(found.log_hi), truth) << q << " " << m << " " << eps;
    EXPECT_LT(found.log_hi - found.log_lo, 2e-3) << q << " " << m << " " << eps;
  }
}

}  // namespace
}  // namespace sfumato
