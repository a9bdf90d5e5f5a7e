// Laplace's mechanism against 50 digits: two and three answers by one integral, and its transform.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "sfumato/account/accountant/accountant.hpp"
#include "sfumato/account/accountant/profile.hpp"
#include "sfumato/account/lattice/pld.hpp"
#include "sfumato/core/infinity.hpp"
#include "support/accounting_reference.hpp"
#include "support/accounting_transforms.hpp"

namespace sfumato {
namespace {

using namespace reference;

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

TEST(LaplaceStep, TwoAndThreeAnswersAreEnclosed) {
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

TEST(LaplaceStep, EpsilonReachesItsLargestLoss) {
  // One answer has delta(eps) = 1 - e^{(eps - 1/scale)/2}: with so small a delta epsilon is 1/scale, which is no double.
  // With little noise the other tail is below the range of doubles, and is no 0.
  for (const double scale : {60.823895, 1.875477, 3.0, 0.75, 49.0, 1e-3, 1.3e-3, 2e-4}) {
    for (const double delta : {5.03e-22, 2.7e-149}) {
      Accountant accountant(NeighbouringRelation::add_remove);
      accountant.compose({LaplaceNoise{scale}});
      const Enclosure found = accountant.epsilon(Delta(delta));
      const Real truth = 1 / Real(scale) + 2 * log1p(Real(-delta));
      EXPECT_GE(Real(found.upper.value), truth) << scale << " " << delta;
      EXPECT_LE(Real(found.lower.value), truth) << scale << " " << delta;
      EXPECT_LT(found.upper.value, (1 / scale) * (1 + 1e-11)) << scale << " " << delta;
    }
  }
}

TEST(LaplaceStep, ItsDistributionHasItsTransform) {
  for (const double eps0 : {0.1, 1.0, 5.0}) {
    for (const double s0 : {-0.4, 0.5, 6.0}) {
      const double reach = 20.0 / eps0;
      expect_distribution(LaplaceStep{eps0, 1}.tilted_distribution(s0, reach), reach,
                          [&](double y) { return laplace_moment(eps0, s0, y); });
    }
  }
}

}  // namespace
}  // namespace sfumato
