#pragma once

#include <gtest/gtest.h>

#include <boost/math/quadrature/gauss.hpp>
#include <cmath>
#include <string>

#include "sfumato/account/contour/log_enclosure.hpp"
#include "sfumato/account/contour/tilted_distribution.hpp"
#include "support/accounting_reference.hpp"

/// What tests of the accountant's steps hold against 50 digits.
namespace sfumato::reference {

/// The integral over [a, b] of what has all derivatives there.
template <class Function>
Real integral(const Function& f, const Real& a, const Real& b) {
  if (!(a < b)) return 0;
  return boost::math::quadrature::gauss<Real, 40>::integrate(f, a, b);
}

/// The truth is between the ends, which are no farther apart than `width`.
inline void expect_inside(const LogEnclosure& found, const Real& delta, double width,
                          const std::string& what) {
  const Real truth = log(delta);
  EXPECT_LE(Real(found.log_lo), truth) << what;
  EXPECT_GE(Real(found.log_hi), truth) << what;
  EXPECT_LT(found.log_hi - found.log_lo, width) << what;
}

/// M(s0 + iy).
struct Moment {
  Real re, im;
};

/// A distribution at s0 has the transform moment_at(y), up to what it says.
template <class MomentAt>
void expect_distribution(const TiltedDistribution& distribution, double reach,
                         const MomentAt& moment_at) {
  const Moment here = moment_at(0.0);
  EXPECT_NEAR(
      static_cast<double>(distribution.cumulant - log(here.re)), 0.0,
      distribution.error_at(0.0) + 8.0 * 0x1p-53 * (1.0 + std::fabs(distribution.cumulant)));
  for (const double share : {0.1, 1.0}) {
    const double y = share * reach;
    const Moment there = moment_at(y);
    const auto change = distribution.change_at(y);
    const Real off_re = there.re / here.re - 1 - change.real(),
               off_im = there.im / here.re - change.imag();
    EXPECT_LE(sqrt(off_re * off_re + off_im * off_im), Real(distribution.error_at(y))) << y;
    EXPECT_LT(distribution.error_at(y), 1e-10) << y;
  }
}

}  // namespace sfumato::reference
