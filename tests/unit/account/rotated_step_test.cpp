// M(s) off the real axis against 50 digits (Spec §18.10).
#include "sfumato/account/contour/rotated_step.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <limits>
#include <vector>

#include "support/accounting_reference.hpp"

namespace sfumato {
namespace {

using Complex = std::complex<double>;
using reference::Real;
using enum StepDirection;

/// M(s) and its derivative in 50 digits, on the real axis: for moderate s.
struct Moment {
  Real re = 0, im = 0, slope_re = 0, slope_im = 0;
  [[nodiscard]] double modulus() const { return static_cast<double>(sqrt(re * re + im * im)); }
  [[nodiscard]] double slope() const {
    return static_cast<double>(sqrt(slope_re * slope_re + slope_im * slope_im));
  }
};
Moment moment(double q, double m, Complex s) {
  Moment sum;
  constexpr double kStep = 1.0 / 32;
  for (double z = -14.0; z <= 15.0 + m * (1.0 + s.real()); z += kStep) {
    const Real l = reference::log_r(q, m, Real(z));
    const Real size = kStep * reference::density(Real(z)) * exp((1 + Real(s.real())) * l);
    const Real re = size * cos(Real(s.imag()) * l), im = size * sin(Real(s.imag()) * l);
    sum.re += re;
    sum.im += im;
    sum.slope_re += l * re;
    sum.slope_im += l * im;
  }
  return sum;
}

/// A small triangle around s.
TransformArea around(Complex s) {
  return {{s * Complex(1.0, -0.01), s * Complex(1.02, 0.01), s * Complex(0.98, 0.02)}};
}

TEST(RotatedStep, ValuesAndBoundsHoldAllOverTheQuadrant) {
  for (const auto& [q, m] : {std::pair{.01, 1.0 / .6}, {.2, 1.0}, {1e-3, 2.5}}) {
    RotatedStep step(SampledGaussian{q, m, 5.0, remove});
    std::vector<TransformArea> areas;
    std::vector<Complex> places;
    // From near the real axis to far up, where the raised line serves.
    for (const Complex s :
         {Complex(3.0, .5), Complex(3.0, 6.0), Complex(4.0, 20.0), Complex(5.0, 50.0)}) {
      places.push_back(s);
      areas.push_back(around(s));
    }
    ASSERT_TRUE(step.choose_lines(areas));
    ASSERT_TRUE(step.place(areas, {0, 1, 2, 3}));
    for (std::size_t i = 0; i < places.size(); ++i) {
      const Complex s = places[i];
      const Moment truth = moment(q, m, s);
      const RotatedStep::Value found = step.at(s, i);
      const Real off_re = truth.re - 1 - found.change.real(),
                 off_im = truth.im - found.change.imag();
      EXPECT_LE(sqrt(off_re * off_re + off_im * off_im), Real(found.error)) << q << " " << s;
      EXPECT_LT(found.error, 1e-11 * std::max(1.0, truth.modulus())) << q << " " << s;
      const RotatedStep::Bound bound = step.bound(areas[i], i);
      EXPECT_GE(bound.log_modulus, std::log(truth.modulus())) << q << " " << s;
      EXPECT_GE(bound.slope, truth.slope()) << q << " " << s;
      EXPECT_LT(bound.slope, 1e3 * truth.slope() + 1.0) << q << " " << s;
    }
  }
}

TEST(RotatedStep, NothingIsAboveTheBoundOfTheRest) {
  for (const auto& [q, m] : {std::pair{.01, 1.0 / .6}, {.3, 1.0}}) {
    RotatedStep step(SampledGaussian{q, m, 5.0, remove});
    for (const double y : {12.0, 25.0, 50.0}) {
      const double x = 0.1 * y;
      const double bound = step.log_rest(x, y, 1.25) - (1.0 + x) * step.unsampled_loss();
      ASSERT_TRUE(std::isfinite(bound));
      EXPECT_GE(bound, std::log(moment(q, m, {x, y}).modulus())) << q << " " << y;
    }
    EXPECT_EQ(step.log_rest(30.0, 12.0, 1.25), std::numeric_limits<double>::infinity());
  }
}

}  // namespace
}  // namespace sfumato
