#include "sfumato/account/contour/allocation_moments.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "sfumato/account/contour/compensated_sum.hpp"

namespace sfumato {
namespace {

/// E R^(p + iy) of t = 2 or 3 batches by trapezoidal sums over the plane or space: exact, since the integrand is analytic in a strip of
/// half width pi / m.
Complex by_brute_force(int t, double m, double p, double y) {
  const double h = 0.16, far = 9.5 + m * std::fabs(p);
  std::vector<double> weight, ratio;
  for (double x = -std::ceil(far / h) * h; x <= far; x += h) {
    weight.push_back(h * std::exp(-0.5 * x * x) / std::sqrt(2.0 * kPi));
    ratio.push_back(std::exp(m * x - 0.5 * m * m) / t);
  }
  CompensatedSum re, im;
  const auto add = [&](double w, double r) {
    const Complex term = w * std::exp(Complex(p, y) * std::log(r));
    re.add(term.real());
    im.add(term.imag());
  };
  for (std::size_t i = 0; i < weight.size(); ++i) {
    for (std::size_t j = 0; j < weight.size(); ++j) {
      const double w = weight[i] * weight[j], r = ratio[i] + ratio[j];
      if (t == 2) {
        add(w, r);
      } else if (w > 1e-45) {
        for (std::size_t k = 0; k < weight.size(); ++k) add(w * weight[k], r + ratio[k]);
      }
    }
  }
  return {re.value(), im.value()};
}

TEST(AllocationMoments, AreThoseOfBruteForce) {
  const struct {
    int t;
    double m, p;
  } cases[] = {{2, 1.0, 1.5}, {2, 0.4, 6.0}, {2, 1.5, 3.0}, {2, 1.0, -2.0}, {3, 1.0, 2.5}};
  for (const auto& c : cases) {
    const bool removal = c.p > 0.0;
    AllocationMoments moments({static_cast<double>(c.t), c.m},
                              removal ? StepDirection::remove : StepDirection::add);
    const double s = removal ? c.p - 1.0 : -c.p;
    const Complex at0 = by_brute_force(c.t, c.m, c.p, 0.0);
    const StepCumulant real = moments.at(s);
    EXPECT_NEAR(real.value, std::log(at0.real()), real.error + 2e-14) << c.t << " " << c.p;
    EXPECT_LT(real.error, 1e-11);
    const double step = 0.7;
    const AllocationMoments::Line line = moments.line(s, step, 14);
    for (const std::size_t i : {1U, 4U, 9U, 13U}) {
      Complex ratio = by_brute_force(c.t, c.m, c.p, step * static_cast<double>(i)) / at0;
      if (!removal) ratio = std::conj(ratio);
      EXPECT_LE(std::abs(line.ratio[i] - ratio), line.error[i] + 2e-14) << c.t << " " << i;
      EXPECT_LT(line.error[i], 1e-10);
    }
  }
}

TEST(AllocationMoments, HaveClosedForms) {
  for (const double t : {2.0, 10.0, 1000.0, 1e6}) {
    for (const double m : {0.05, 0.5, 1.0, 3.0}) {
      AllocationMoments moments({t, m}, StepDirection::remove);
      EXPECT_EQ(moments.at(0.0).value, 0.0);
      const StepCumulant square = moments.at(1.0);
      const double exact = std::log1p(std::expm1(m * m) / t);
      EXPECT_NEAR(square.value, exact, square.error + 1e-15) << t << " " << m;
      const double cube =
          (std::exp(3.0 * m * m) + 3.0 * (t - 1.0) * std::exp(m * m) + (t - 1.0) * (t - 2.0)) /
          (t * t);
      const StepCumulant third = moments.at(2.0);
      EXPECT_NEAR(third.value, std::log(cube), third.error + 1e-15) << t << " " << m;
    }
  }
}

TEST(AllocationMoments, OfOneBatchAreNormal) {
  AllocationMoments moments({1.0, 0.8}, StepDirection::add);
  const double s = 1.7;
  EXPECT_NEAR(moments.at(s).value, 0.32 * s * (s + 1.0), 1e-15);
  const AllocationMoments::Line line = moments.line(s, 0.5, 4);
  const Complex log = 0.32 * (Complex(s, 1.5) * Complex(s + 1.0, 1.5) - s * (s + 1.0));
  EXPECT_LE(std::abs(line.ratio[3] - std::exp(log)), line.error[3]);
}

TEST(AllocationMoments, DoNotDependOnTheRays) {
  // Lines that go on for longer take another n, other angles and other steps.
  AllocationMoments moments({100.0, 1.0}, StepDirection::remove);
  const auto near = moments.line(6.3, 0.5, 21), far = moments.line(6.3, 0.5, 401);
  EXPECT_NEAR(near.at.value, far.at.value, near.at.error + far.at.error);
  for (std::size_t i = 0; i < near.ratio.size(); ++i) {
    EXPECT_LE(std::abs(near.ratio[i] - far.ratio[i]), near.error[i] + far.error[i]) << i;
  }
  for (std::size_t i = 0; i < far.ratio.size(); ++i) {
    // Theorem 28.3.
    const double y = 0.5 * static_cast<double>(i);
    EXPECT_LE(std::abs(far.ratio[i]), std::exp(-y * y / 200.0) + far.error[i]) << i;
  }
}

TEST(AllocationMoments, AreRefusedWhereTheyAreTooLarge) {
  AllocationMoments moments({100.0, 1.0}, StepDirection::remove);
  EXPECT_EQ(moments.at(2.0 * moments.highest_abscissa()).value,
            std::numeric_limits<double>::infinity());
}

/// Around x = m p the weights e^{-x^2/2} are no numbers any more: +inf is said then, never less than one batch alone has.
TEST(AllocationMoments, FarTiltsAreNotBelowOneBatchAlone) {
  for (const double m : {.5, 1.0, 4.0, 12.0}) {
    AllocationMoments moments({100.0, m}, StepDirection::remove);
    for (const double s : {.5, 2.0, 8.0, 20.0, 26.0, 37.0, 60.0}) {
      const double p = 1.0 + s, least = .5 * m * m * p * (p - 1.0) + (1.0 - p) * std::log(100.0);
      const StepCumulant found = moments.at(s);
      EXPECT_GE(found.value + found.error, least * (1.0 - 1e-12)) << m << " " << s;
    }
  }
}

}  // namespace
}  // namespace sfumato
