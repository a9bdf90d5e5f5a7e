// Few steps on a contour that is bent (Spec §18.10): its parts and its values against 50 digits.
#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <random>

#include "sfumato/account/accountant/profile.hpp"
#include "sfumato/account/contour/delta_curve.hpp"
#include "sfumato/account/contour/hyperbolic_contour.hpp"
#include "sfumato/account/contour/plain_transform.hpp"
#include "sfumato/account/contour/rotated_step.hpp"
#include "sfumato/account/contour/rotated_sum.hpp"
#include "support/accounting_reference.hpp"

namespace sfumato {
namespace {

using Complex = std::complex<double>;
using reference::Real;
using enum StepDirection;

TotalLoss steps(double q, double sigma, double k, StepDirection direction = remove) {
  return {{SampledGaussian{q, 1.0 / sigma, k, direction}}};
}

TEST(RotatedSum, IsTheSumOfItsTermsUpToRounding) {
  std::mt19937_64 random(3);
  std::uniform_real_distribution<double> uniform(-1.0, 1.0);
  constexpr std::size_t kCount = 203;  // not a multiple of eight
  std::vector<double> c_re, c_im, c, l_re, l_im, ones(kCount, 1.0);
  for (std::size_t j = 0; j < kCount; ++j) {
    c_re.push_back(uniform(random));
    c_im.push_back(uniform(random));
    c.push_back(std::hypot(c_re[j], c_im[j]));
    const double size = std::pow(10.0, 4.0 * uniform(random) - 4.0);
    l_re.push_back(size * uniform(random));
    l_im.push_back(size * uniform(random));
  }
  for (const Complex p : {Complex(1.0, 0.0), Complex(3.5, 200.0), Complex(40.0, 600.0)}) {
    const RotatedSum sum = rotated_sum({c_re.data(), c_im.data(), c.data(), l_re.data(),
                                        l_im.data(), ones.data(), ones.data(), kCount},
                                       p.real(), p.imag());
    std::complex<long double> truth;
    long double allowed = 0.0L;
    for (std::size_t j = 0; j < kCount; ++j) {
      const std::complex<long double> power(p.real(), p.imag()), log(l_re[j], l_im[j]);
      const std::complex<long double> x = power * log;
      const long double half = std::sin(x.imag() / 2), down = std::exp(x.real());
      const std::complex<long double> change(std::expm1(x.real()) - 2 * down * half * half,
                                             down * std::sin(x.imag()));
      truth += std::complex<long double>(c_re[j], c_im[j]) * change;
      allowed += c[j] * 8 * std::abs(power) * std::abs(log) * down;
    }
    const long double off = std::abs(truth - std::complex<long double>(sum.re, sum.im));
    EXPECT_LE(off, 0x1p-53L * (allowed + 50 * sum.size)) << p;
    EXPECT_GT(sum.size, 0.0);
  }
}

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
      const double bound = step.log_rest(x, y, 1.25) - (1.0 + x) * step.edge();
      ASSERT_TRUE(std::isfinite(bound));
      EXPECT_GE(bound, std::log(moment(q, m, {x, y}).modulus())) << q << " " << y;
    }
    EXPECT_EQ(step.log_rest(30.0, 12.0, 1.25), std::numeric_limits<double>::infinity());
  }
}

TEST(HyperbolicContour, TwoStepsAreOneIntegral) {
  for (const auto& [q, sigma, eps] :
       {std::array{.01, .6, 2.8}, std::array{.01, 1.0, 0.0}, std::array{1e-3, .8, .5}}) {
    const double m = 1.0 / sigma;
    const Real truth = log(reference::two_step_delta(q, m, remove, eps));
    const LogEnclosure found = delta_of(steps(q, sigma, 2.0), eps).log;
    EXPECT_LE(Real(found.log_lo), truth) << q << " " << sigma << " " << eps;
    EXPECT_GE(Real(found.log_hi), truth) << q << " " << sigma << " " << eps;
    EXPECT_LT(found.log_hi - found.log_lo, 5e-7) << q << " " << sigma << " " << eps;
  }
}

TEST(HyperbolicContour, ServesTheEpsilonsNearItsOwn) {
  const TotalLoss loss = steps(.01, .6, 10.0);
  Work work;
  PlainTransform plain(loss, &work);
  const auto contour = HyperbolicContour::at(loss, saddle(plain, 3.0, Strip::right, 1.0), 3.0);
  ASSERT_TRUE(contour);
  double last = 0.0;
  for (const double eps : {2.6, 2.8, 3.0, 3.2, 3.5}) {
    const LogEnclosure found = contour->enclosure(eps), other = delta_of(loss, eps).log;
    EXPECT_LT(found.log_hi - found.log_lo, 1e-9) << eps;
    EXPECT_LE(std::max(found.log_lo, other.log_lo), std::min(found.log_hi, other.log_hi)) << eps;
    EXPECT_LT(found.log_hi, last);
    last = found.log_lo;
  }
  const double slope = (contour->enclosure(3.001).log_hi - contour->enclosure(2.999).log_hi) / 2e-3;
  EXPECT_NEAR(contour->log_slope(3.0), slope, 1e-4);
  EXPECT_FALSE(HyperbolicContour::at(steps(.01, .6, 10.0, add), {1.0, {}}, 3.0));
}

TEST(HyperbolicContour, FewStepsAreAsNarrowAsMany) {
  for (const double k : {2.0, 3.0, 10.0, 30.0, 100.0}) {
    for (const double sigma : {.5, .6, 1.0}) {
      const EpsilonEnclosure found = epsilon_of(steps(.01, sigma, k), 1e-6);
      EXPECT_GT(found.lo, 0.0);
      EXPECT_LT(found.hi - found.lo, 1e-8 * found.hi) << k << " " << sigma;
    }
  }
}

TEST(HyperbolicContour, UnequalStepsAreComposed) {
  // Two kinds of steps, and the same in one kind.
  const TotalLoss split{
      {SampledGaussian{.01, 1.5, 4.0, remove}, SampledGaussian{.01, 1.5, 6.0, remove}}};
  const TotalLoss joined{{SampledGaussian{.01, 1.5, 10.0, remove}}};
  for (const double eps : {.3, 2.0}) {
    const LogEnclosure a = delta_of(split, eps).log, b = delta_of(joined, eps).log;
    EXPECT_LE(std::max(a.log_lo, b.log_lo), std::min(a.log_hi, b.log_hi));
    EXPECT_LT(a.log_hi - a.log_lo, 1e-9);
  }
  // More of anything is more.
  const TotalLoss other{
      {SampledGaussian{.01, 1.5, 4.0, remove}, SampledGaussian{.02, 1.2, 6.0, remove}}};
  EXPECT_GT(delta_of(other, .3).log.log_lo, delta_of(steps(.01, 1.0 / 1.5, 4.0), .3).log.log_hi);
}

/// A contour that is narrow where it was made may say nothing at the end of the region that it serves.
TEST(HyperbolicContour, RegionsAreNarrowUpToTheirEnds) {
  const TotalLoss loss{{SampledGaussian{1.7487432e-4, 3.9466837, 10, remove},
                        SampledGaussian{3.4293410e-4, 0.23598188, 59, remove}}};
  DeltaCurve curve(loss);
  for (double eps = 13.46; eps < 19.0; eps *= 1.02) {
    const LogEnclosure log = curve.at(eps).log;
    EXPECT_LT(log.log_hi - log.log_lo, 1e-5) << eps;
  }
}

}  // namespace
}  // namespace sfumato
