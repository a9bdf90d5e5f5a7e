// The parts of the accountant against 50 digits: steps with bounded losses composed, distributions on panels, and the vector kernels.
#include <gtest/gtest.h>

#include <algorithm>
#include <boost/math/quadrature/gauss.hpp>
#include <cmath>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "sfumato/account/accountant/profile.hpp"
#include "sfumato/account/contour/phase_sum.hpp"
#include "sfumato/account/contour/tilt_sums.hpp"
#include "sfumato/account/lattice/pld.hpp"
#include "sfumato/core/infinity.hpp"
#include "support/accounting_reference.hpp"

namespace sfumato {
namespace {

using reference::Real;
constexpr double kUnit = 0x1p-53;

/// The integral over [a, b] of what has all derivatives there.
template <class Function>
Real integral(const Function& f, const Real& a, const Real& b) {
  if (!(a < b)) return 0;
  return boost::math::quadrature::gauss<Real, 40>::integrate(f, a, b);
}

// ---- composed steps ----

void expect_inside(const LogEnclosure& found, const Real& delta, double width,
                   const std::string& what) {
  const Real truth = log(delta);
  EXPECT_LE(Real(found.log_lo), truth) << what;
  EXPECT_GE(Real(found.log_hi), truth) << what;
  EXPECT_LT(found.log_hi - found.log_lo, width) << what;
}

/// Two answers of Laplace's mechanism: with Y = eps0 - eps/2 the mixture of its losses integrates to 1 - e^-Y (1 + Y/2), 0 <= eps < 2 eps0.
Real two_laplace(double eps0, const Real& eps) {
  if (eps < 0) return 1 - exp(eps) + exp(eps) * two_laplace(eps0, -eps);
  const Real y = Real(eps0) - eps / 2;
  return y > 0 ? Real(1 - exp(-y) * (1 + y / 2)) : Real(0);
}

/// E delta_2(eps - L) over the loss L of the third: eps0 - 2x with the density e^-x / 2 on (0, eps0), and atoms at both ends.
Real three_laplace(double eps0, double eps) {
  const Real e(eps0), at(eps);
  const auto rest = [&](const Real& x) {
    return Real(exp(-x) / 2 * two_laplace(eps0, at - e + 2 * x));
  };
  const Real kink = std::clamp((eps0 - eps) / 2, 0.0, eps0);  // where eps - L = 0
  const Real end = std::clamp((3 * eps0 - eps) / 2, 0.0, eps0);
  return two_laplace(eps0, at - e) / 2 + exp(-e) / 2 * two_laplace(eps0, at + e) +
         integral(rest, 0, kink) + integral(rest, kink, end);
}

TEST(AccountingDigits, LaplaceComposed) {
  // Where eps is a loss of positive probability the ends are far apart: what counts is that the truth is between them.
  const PldGrid coarse{std::size_t{1} << 13};
  for (const double eps0 : {0.01, 1.0, 4.0}) {
    for (const double share : {0.0, 0.1, 0.5, 0.9}) {
      const std::string what = std::to_string(eps0) + " " + std::to_string(share);
      const double two = share * 2.0 * eps0, three = share * 3.0 * eps0;
      const Real truth = three_laplace(eps0, three);
      expect_inside(delta_of({{LaplaceStep{eps0, 2}}}, two).log, two_laplace(eps0, Real(two)), kInf,
                    what);
      expect_inside(delta_of({{LaplaceStep{eps0, 3}}}, three).log, truth, share < 0.2 ? 0.2 : kInf,
                    what);
      expect_inside(pld_delta({{LaplaceStep{eps0, 3}}}, three, coarse), truth, kInf, what);
    }
  }
}

/// k answers, each true with odds e^eps0: j of them are with probability binom(k, j) p^j (1 - p)^(k - j).
Real many_answers(double eps0, int k, double eps) {
  const Real p = 1 / (1 + exp(-Real(eps0)));
  Real sum = 0, binomial = 1;
  for (int j = 0; j <= k; ++j) {
    const Real gain = 1 - exp(Real(eps) - (2 * j - k) * Real(eps0));
    if (gain > 0) sum += binomial * pow(p, j) * pow(1 - p, k - j) * gain;
    binomial = binomial * (k - j) / (j + 1);
  }
  return sum;
}

TEST(AccountingDigits, KnownStepsComposed) {
  for (const double eps0 : {0.05, 0.5, 2.0}) {
    for (const int k : {2, 7, 30}) {
      for (const double share : {0.0, 0.13, 0.41}) {
        const double eps = share * k * eps0;
        const std::string what = std::to_string(eps0) + " " + std::to_string(eps);
        const TotalLoss loss{{RandomisedResponse{eps0, static_cast<double>(k)}}};
        expect_inside(delta_of(loss, eps).log, many_answers(eps0, k, eps), 0.5, what);
        expect_inside(pld_delta(loss, eps, {std::size_t{1} << 13}), many_answers(eps0, k, eps),
                      kInf, what);
      }
    }
  }
}

// ---- distributions on panels ----

/// M(s0 + iy).
struct Moment {
  Real re, im;
};

/// The atoms at +- eps0 and the density between them.
Moment laplace_moment(double eps0, double s0, double y) {
  const Real e(eps0), s(s0), t(y);
  const auto part = [&](bool imaginary) {
    return [&, imaginary](const Real& x) {
      const Real loss = e - 2 * x;
      const Real size = exp(-x + s * loss) / 2;
      return Real(size * (imaginary ? sin(t * loss) : cos(t * loss)));
    };
  };
  Moment moment{exp(s * e) / 2 * cos(t * e) + exp(-e - s * e) / 2 * cos(t * e),
                exp(s * e) / 2 * sin(t * e) - exp(-e - s * e) / 2 * sin(t * e)};
  for (int i = 0; i < 4; ++i) {
    const Real from = e * i / 4, to = e * (i + 1) / 4;
    moment.re += integral(part(false), from, to);
    moment.im += integral(part(true), from, to);
  }
  return moment;
}

/// The atom at 0, and losses of either sign for z > m/2.
Moment two_sided_moment(double q, double m, double s0, double y) {
  const Real s(s0), t(y);
  const auto part = [&](bool imaginary) {
    return [&, imaginary](const Real& z) {
      const Real loss = reference::log_r(q, m, z);
      const Real up = exp((1 + s) * loss), down = exp(-s * loss);
      return Real(reference::density(z) *
                  (imaginary ? (up - down) * sin(t * loss) : (up + down) * cos(t * loss)));
    };
  };
  Moment moment{(1 - Real(q)) * boost::math::erf(Real(Real(m) / 2 / sqrt(Real(2)))), 0};
  const double width = 15.0 + m * (2.0 + 2.0 * std::fabs(s0));
  for (int i = 0; i < 12; ++i) {
    const Real from = Real(m) / 2 + width * i / 12, to = Real(m) / 2 + Real(width) * (i + 1) / 12;
    moment.re += integral(part(false), from, to);
    moment.im += integral(part(true), from, to);
  }
  return moment;
}

template <class MomentAt>
void expect_law(const TiltedDistribution& law, double reach, const MomentAt& moment_at) {
  const Moment here = moment_at(0.0);
  EXPECT_NEAR(static_cast<double>(law.cumulant - log(here.re)), 0.0,
              law.error_at(0.0) + 8.0 * kUnit * (1.0 + std::fabs(law.cumulant)));
  for (const double share : {0.1, 1.0}) {
    const double y = share * reach;
    const Moment there = moment_at(y);
    const auto change = law.change_at(y);
    const Real off_re = there.re / here.re - 1 - change.real(),
               off_im = there.im / here.re - change.imag();
    EXPECT_LE(sqrt(off_re * off_re + off_im * off_im), Real(law.error_at(y))) << y;
    EXPECT_LT(law.error_at(y), 1e-10) << y;
  }
}

TEST(AccountingDigits, PanelsOfLaplace) {
  for (const double eps0 : {0.1, 1.0, 5.0}) {
    for (const double s0 : {-0.4, 0.5, 6.0}) {
      const double reach = 20.0 / eps0;
      expect_law(LaplaceStep{eps0, 1}.tilted_distribution(s0, reach), reach,
                 [&](double y) { return laplace_moment(eps0, s0, y); });
    }
  }
}

TEST(AccountingDigits, PanelsOfBatchesOfFixedSize) {
  for (const auto& [q, m] : {std::pair{0.001, 2.0}, {0.2, 0.3}}) {
    for (const double s0 : {0.5, 4.0}) {
      const double reach = 10.0;
      expect_law(TwoSidedGaussian{q, m, 1}.tilted_distribution(s0, reach), reach,
                 [&, q = q, m = m](double y) { return two_sided_moment(q, m, s0, y); });
    }
  }
}

TEST(AccountingDigits, DecayOfBatchesOfFixedSizeIsABound) {
  for (const auto& [q, m] : {std::pair{0.02, 2.0}, {0.3, 0.5}}) {
    const double s0 = 2.0;
    const TwoSidedGaussian step{q, m, 1};
    const TiltedDistribution law = step.tilted_distribution(s0, 0.0);
    const StepCumulant here{law.cumulant, law.mean, law.variance, law.error_at(0.0)};
    const double unit = std::sqrt(law.variance);
    for (const double reach : {1.0 / unit, 4.0 / unit, 20.0 / unit}) {
      const DecayBound bound = step.log_bound_beyond(here, s0, reach, -0.3);
      if (reach > 2.0 / unit) {
        EXPECT_LT(bound.log_ratio, -0.2) << q << " " << reach;
      }
      for (const double times : {1.0, 1.3, 3.0}) {
        const Moment at = two_sided_moment(q, m, s0, times * reach);
        const Real modulus = sqrt(at.re * at.re + at.im * at.im);
        EXPECT_LE(log(modulus) - law.cumulant, Real(bound.log_ratio) + 1e-12) << times * reach;
      }
    }
  }
  // Nothing is known where the cumulant is not.
  const StepCumulant unknown{kInf, kInf, 1.0, kInf};
  EXPECT_EQ((TwoSidedGaussian{0.5, 4.0, 2}.log_bound_beyond(unknown, 0.2, 3.0, -18.0)).log_ratio,
            0.0);
}

// ---- vector kernels ----

TEST(AccountingDigits, PhaseSums) {
  std::mt19937_64 random(11);
  std::uniform_real_distribution<double> unit(0.0, 1.0);
  for (const double y :
       {1e-9, 0.3, 40.0, 1e5, 3e8}) {  // the last one beyond what is reduced by hand
    for (const std::size_t count : {1U, 7U, 8U, 37U}) {
      std::vector<double> weight(count), loss(count);
      Real re = 0, im = 0;
      double error = 0.0;
      for (std::size_t j = 0; j < count; ++j) {
        weight[j] = unit(random);
        loss[j] = std::exp(12.0 * unit(random) - 10.0) * (unit(random) < 0.5 ? -1.0 : 1.0);
        const Real angle = Real(y) * loss[j];
        re += weight[j] * (cos(angle) - 1);
        im += weight[j] * sin(angle);
        // Two roundings of each factor, and the rounding of the angle.
        const double size = std::fabs(y * loss[j]);
        error += 8.0 * kUnit * weight[j] * std::min(size, 1.0) * (2.0 + size);
      }
      const PhaseSum found = phase_sum(weight.data(), loss.data(), count, y);
      EXPECT_NEAR(static_cast<double>(re - found.re), 0.0, error) << y << " " << count;
      EXPECT_NEAR(static_cast<double>(im - found.im), 0.0, error) << y << " " << count;
    }
  }
}

TEST(AccountingDigits, TiltSums) {
  std::mt19937_64 random(12);
  std::uniform_real_distribution<double> unit(0.0, 1.0);
  for (const double scale : {1e-12, 1e-3, 1.0, 300.0}) {
    for (const std::size_t count : {1U, 8U, 29U}) {
      const double s = 1.5;
      std::vector<double> weight(count), offset(count), loss(count), roundings(count, 1.0);
      Real change = 0, mass = 0, first = 0, second = 0;
      double off_change = 0.0, off_mass = 0.0, off_first = 0.0, off_second = 0.0;
      for (std::size_t j = 0; j < count; ++j) {
        weight[j] = unit(random);
        offset[j] = scale * (unit(random) - 0.5);
        loss[j] = scale * (unit(random) - 0.5);
        const Real x = Real(offset[j]) + Real(s) * loss[j];
        const double size = std::fabs(offset[j]) + s * std::fabs(loss[j]);
        const double tilted = weight[j] * std::exp(static_cast<double>(x));
        const Real exact = weight[j] * exp(x);
        change += exact - weight[j];
        mass += exact;
        first += exact * loss[j];
        second += exact * loss[j] * loss[j];
        const double relative = 4.0 * kUnit * (2.0 + size);
        off_change += 4.0 * kUnit * weight[j] * std::min(size, 1.0) *
                          (2.0 + std::exp(static_cast<double>(x))) +
                      4.0 * kUnit * size * tilted;
        off_mass += relative * (tilted + weight[j]);
        off_first += relative * tilted * std::fabs(loss[j]);
        off_second += relative * tilted * loss[j] * loss[j];
      }
      const TiltSums found =
          tilt_sums({weight.data(), offset.data(), loss.data(), roundings.data(), count}, s);
      EXPECT_NEAR(static_cast<double>(change - found.change), 0.0, off_change) << scale;
      EXPECT_NEAR(static_cast<double>(mass - found.mass), 0.0, off_mass) << scale;
      EXPECT_NEAR(static_cast<double>(first - found.first), 0.0, off_first) << scale;
      EXPECT_NEAR(static_cast<double>(second - found.second), 0.0, off_second) << scale;
    }
  }
}

}  // namespace
}  // namespace sfumato
