// Spec §27.16: no bound of the matched process below the exact KL of Ornstein-Uhlenbeck pairs.
#include "sfumato/divergence/matched_process.hpp"

#include <gtest/gtest.h>

#include <Eigen/LU>
#include <algorithm>
#include <cmath>

#include "sfumato/core/infinity.hpp"
#include "sfumato/divergence/contractive_bound.hpp"
#include "sfumato/divergence/fisher_box.hpp"
#include "sfumato/divergence/matched_chain.hpp"
#include "sfumato/math/symmetric_eigen.hpp"
#include "support/cases.hpp"
#include "support/random_pair.hpp"

namespace sfumato {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;
using testing::RandomPair;

double value(const KlBound& bound) { return bound.kl.value.value(); }

/// Any condition number to 1e8.
Covariance any_noise(RandomPair& random, Index d) {
  VectorXd values(d);
  const double spread = random.uniform(0.0, 4.0);
  for (double& v : values) v = std::pow(10.0, random.uniform(-spread, spread));
  if (random.integer(0, 2) == 0) return Diagonal{values};
  const MatrixXd q = random.rotation(d);
  const MatrixXd m = q * values.asDiagonal() * q.transpose();
  return Dense{0.5 * (m + m.transpose())};
}

Index any_dimension(RandomPair& random) {
  const int kind = random.integer(0, 19);
  return kind == 0 ? 50 : kind < 3 ? random.integer(6, 25) : random.integer(1, 5);
}

OuPair any_pair(RandomPair& random) {
  const Index d = any_dimension(random);
  OuPair pair = random.pair(d, RandomPair::NoiseOf::unequal, RandomPair::StartOf::common);
  pair.p.noise = any_noise(random, d);
  switch (random.integer(0, 4)) {
    case 0: pair.q.noise = any_noise(random, d); break;
    case 1:
      pair.q.noise = scaled(pair.p.noise, 1.0 + std::pow(10.0, random.uniform(-12.0, 0.0)));
      break;
    case 2: pair.q.noise = pair.p.noise; break;
    case 3:  // the same drift
      pair.q.curvature = pair.p.curvature;
      pair.q.pull = pair.p.pull;
      pair.q.noise = scaled(pair.p.noise, random.uniform(0.5, 2.0));
      break;
    default: break;
  }
  if (random.integer(0, 3) == 0)
    pair.q.curvature -= random.uniform(0.0, 2.0) * MatrixXd::Identity(d, d);  // it expands
  if (random.integer(0, 2) == 0) {
    pair.start_p = pair.start_q = point_distribution(random.vector(d));
  } else {
    pair.start_p.covariance = pair.start_q.covariance = any_noise(random, d);
  }
  return pair;
}

TEST(MatchedProcessProperty, NeverBelowTheExactKl) {
  int bounded = 0, refused = 0;
  const auto count = static_cast<int>(testing::cases(1000, 10));
  for (int i = 0; i < count; ++i) {
    SCOPED_TRACE(::testing::Message() << "seed " << i);
    RandomPair random(static_cast<std::uint64_t>(i));
    const OuPair forward = any_pair(random);
    const double time = std::pow(10.0, random.uniform(-6.0, 6.0));
    for (const OuPair& pair : {forward, swapped(forward)}) {
      try {
        const double exact = exact_kl(pair, time).value.value();
        const KlBound bound = matched_process_bound(pair, time);
        if (bound.reason.empty()) {
          ++bounded;
          EXPECT_GE(value(bound), exact * (1.0 - 1e-9) - 1e-13)
              << "t = " << time << ", d = " << pair.p.pull.size();
          continue;
        }
      } catch (const NumericalFailure&) {  // nothing trustworthy can be said, and it is said
      }
      ++refused;
    }
  }
  EXPECT_GT(bounded, count);  // of 2 count
  RecordProperty("refused", refused);
}

TEST(MatchedProcessProperty, DifferentStarts) {
  for (std::uint64_t seed = 0; seed < testing::cases(300, 6); ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    RandomPair random(700'000 + seed);
    const OuPair pair = random.pair(random.integer(1, 4), RandomPair::NoiseOf::unequal,
                                    RandomPair::StartOf::different);
    const double time = random.log_uniform(1e-3, 1e3);
    try {
      const double exact = exact_kl(pair, time).value.value();
      EXPECT_GE(value(matched_process_bound(pair, time)), exact * (1.0 - 1e-9));
    } catch (const NumericalFailure&) {  // an expanding pair at a long time: no digits are left
    }
  }
}

TEST(MatchedProcessProperty, EqualNoiseIsNeverWorseThanContractive) {
  for (std::uint64_t seed = 0; seed < testing::cases(300); ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    RandomPair random(800'000 + seed);
    const OuPair pair =
        random.pair(random.integer(1, 4), RandomPair::NoiseOf::equal, RandomPair::StartOf::common);
    const double time = random.log_uniform(1e-3, 30.0);
    const double contractive = value(best_contractive_bound(pair, time).bound);
    EXPECT_LE(value(matched_process_bound(pair, time)), contractive * (1.0 + 1e-4));
  }
}

TEST(MatchedProcessProperty, HullIsATautString) {
  for (std::uint64_t seed = 0; seed < testing::cases(1000); ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    RandomPair random(900'000 + seed);
    const int n = random.integer(1, 30);
    std::vector<double> tau, length, half_tau, half_length, tiny_tau, tiny_length;
    double path = 0.0;
    for (int i = 0; i < n; ++i) {
      tau.push_back(random.log_uniform(1e-3, 1e3));
      length.push_back(random.integer(0, 4) == 0 ? 0.0 : random.log_uniform(1e-3, 1e3));
      path += 0.5 * length.back() * length.back() / tau.back();
      for (int k = 0; k < 2; ++k) {
        half_tau.push_back(0.5 * tau.back());
        half_length.push_back(0.5 * length.back());
      }
      tiny_tau.push_back(tau.back() * 1e-200);
      tiny_length.push_back(length.back() * 1e-100);
    }
    const ShiftHull hull = shift_hull(tau, length, 0.0);
    EXPECT_LE(hull.bound, path * (1.0 + 1e-12));
    double tau_sum = 0.0, length_sum = 0.0;
    for (int i = 0; i < n; ++i)
      tau_sum += tau[static_cast<std::size_t>(i)],
          length_sum += length[static_cast<std::size_t>(i)];
    EXPECT_GE(hull.bound,
              0.5 * length_sum * length_sum / tau_sum * (1.0 - 1e-12));  // a straight string
    EXPECT_TRUE(std::is_sorted(hull.slopes.begin(), hull.slopes.end()));
    EXPECT_NEAR(shift_hull(half_tau, half_length, 0.0).bound, hull.bound, 1e-12 * hull.bound);
    EXPECT_NEAR(shift_hull(tiny_tau, tiny_length, 0.0).bound, hull.bound, 1e-12 * hull.bound);
  }
}

TEST(MatchedProcessProperty, BoundsFallWithTheContractionRate) {
  for (std::uint64_t seed = 0; seed < testing::cases(300); ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    RandomPair random(950'000 + seed);
    const double a = random.uniform(0.1, 2.0), b = random.uniform(0.0, 3.0),
                 w = random.uniform(0.1, 1.5);
    const ShiftRate rate{[=](double s) { return a + b * std::sin(w * s) * std::sin(w * s); },
                         1.0 / w, kInf};
    const double t = random.log_uniform(0.1, 10.0);
    double before = kInf;
    for (double kappa = -1.0; kappa <= 2.0; kappa += 0.25) {
      const double bound = shift_bound(rate, kappa, t);
      EXPECT_LE(bound, before * (1.0 + 1e-4));
      before = bound;
    }
  }
}

TEST(MatchedProcessProperty, ChainsNeverBelowTheExactKl) {
  for (std::uint64_t seed = 0; seed < testing::cases(1000, 10); ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    RandomPair random(1'000'000 + seed);
    const Index d = random.integer(1, 4);
    LinearChainPair chain = random.chain(d, RandomPair::StartOf::common);
    if (random.integer(0, 3) != 0)
      chain.q.step_noise = scaled(random.definite(d), random.uniform(0.1, 1.0));
    if (random.integer(0, 1) == 0)
      chain.start_p = chain.start_q = point_distribution(random.vector(d));
    const double steps = std::floor(random.log_uniform(1.0, 300.0));
    for (const LinearChainPair& pair : {chain, swapped(chain)}) {
      const double exact = exact_kl(pair, steps).value.value();
      EXPECT_GE(value(matched_chain_bound(pair, steps)), exact * (1.0 - 1e-9) - 1e-13);
    }
  }
}

TEST(MatchedProcessProperty, MatrixWeightsNeverBelowTheExactKl) {
  int found = 0;
  for (std::uint64_t seed = 0; seed < testing::cases(300, 6); ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    RandomPair random(1'100'000 + seed);
    const Index d = random.integer(1, 4);
    OuPair pair = random.pair(d, RandomPair::NoiseOf::unequal, RandomPair::StartOf::common);
    const bool point = random.integer(0, 1) == 0;
    if (point) pair.start_p = pair.start_q = point_distribution(random.vector(d));
    const double time = random.log_uniform(0.05, 5.0);
    const MatrixWeights weights{random.log_uniform(0.05, 2.0), random.log_uniform(0.05 / time, 3.0),
                                point ? 0.5 : 1.0};
    const auto bound =
        matrix_weight_bound(pair, time, weights, MatrixXd::Identity(d, d), pair.q.curvature);
    if (!bound) continue;
    ++found;
    EXPECT_GE(*bound, exact_kl(pair, time).value.value() * (1.0 - 1e-9));
  }
  EXPECT_GT(found, 5);
}

TEST(FisherProperty, FlowIsASemigroupAndOrdered) {
  for (std::uint64_t seed = 0; seed < testing::cases(300); ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    RandomPair random(1'200'000 + seed);
    const Index d = random.integer(1, 5);
    const MatrixXd drift =
        random.matrix(d, d) - random.uniform(0.0, 3.0) * MatrixXd::Identity(d, d);
    const MatrixXd root = random.matrix(d, d);
    const MatrixXd spread = random.log_uniform(1e-3, 10.0) * root * root.transpose();
    const MatrixXd noise = dense(random.definite(d));
    const FisherFlow flow(drift, spread, noise);
    const double t = random.log_uniform(1e-3, 100.0);
    const MatrixXd start = dense(random.definite(d));
    for (const FisherInformation& from : {FisherInformation(start), FisherInformation()}) {
      const MatrixXd once = flow.at(t, from);
      const MatrixXd twice = flow.at(0.5 * t, flow.at(0.5 * t, from));
      EXPECT_LE((once - twice).norm(), 1e-7 * once.norm());
      // More spread, or more information at the start, is more information.
      const FisherFlow wider(drift, 1.5 * spread, noise);
      const auto least = [](const MatrixXd& m) {
        return SymmetricEigen(0.5 * (m + m.transpose())).eigenvalues()(0);
      };
      EXPECT_GE(least(wider.at(t, from) - once), -1e-8 * once.norm());
      if (!from) continue;
      EXPECT_GE(least(flow.at(t, std::nullopt) - once), -1e-8 * once.norm());
      EXPECT_GE(least(flow.at(t, FisherInformation(2.0 * start)) - once), -1e-8 * once.norm());
    }
  }
}

TEST(FisherProperty, LinearChainsAreExact) {
  for (std::uint64_t seed = 0; seed < testing::cases(1000); ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    RandomPair random(1'300'000 + seed);
    const Index d = random.integer(1, 5);
    const MatrixXd variance = dense(random.definite(d)), noise = dense(random.definite(d));
    const MatrixXd step = random.matrix(d, d);
    const MatrixXd exact = (step * variance * step.transpose() + noise).inverse();
    const FisherStep next =
        fisher_step(FisherInformation(variance.inverse()), step, MatrixXd::Zero(d, d), noise);
    EXPECT_LE((next.next - exact).norm(), 1e-8 * exact.norm());
    const MatrixXd root = random.matrix(d, d);
    const FisherStep wider = fisher_step(FisherInformation(variance.inverse()), step,
                                         0.1 * root * root.transpose(), noise);
    EXPECT_GE(SymmetricEigen(wider.next - exact).eigenvalues()(0), -1e-9 * exact.norm());
  }
}

TEST(FisherProperty, SmallerBoxesGiveLess) {
  for (std::uint64_t seed = 0; seed < testing::cases(300); ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    RandomPair random(1'400'000 + seed);
    const Index d = random.integer(1, 4);
    const MatrixXd drift = random.matrix(d, d) - 3.0 * MatrixXd::Identity(d, d);
    const MatrixXd radii = 0.3 * random.matrix(d, d).cwiseAbs();
    const Covariance noise = random.definite(d);
    const double theta = random.log_uniform(1e-2, 10.0);
    const FisherFlow wide = fisher_box(drift, jacobian_spread(radii, noise), noise, theta);
    const FisherFlow narrow = fisher_box(drift, jacobian_spread(0.5 * radii, noise), noise, theta);
    EXPECT_GE(SymmetricEigen(wide.limit() - narrow.limit()).eigenvalues()(0),
              -1e-8 * wide.limit().norm());
    // (27.6 (4)): any matrix in the box.
    const MatrixXd e = radii.cwiseProduct(random.matrix(d, d).cwiseMax(-1.0).cwiseMin(1.0));
    const MatrixXd gap = jacobian_spread(radii, noise) - e.transpose() * solve(noise, e);
    EXPECT_GE(SymmetricEigen(0.5 * (gap + gap.transpose())).eigenvalues()(0), -1e-10);
  }
}

// The same with starts of any condition number, near each other and far apart, at short times, where W_2 of the starts is
// all of the bound.
TEST(MatchedProcessProperty, DifferentStartsOfAnyCondition) {
  int bounded = 0;
  const auto count = static_cast<int>(testing::cases(1000, 10));
  for (int i = 0; i < count; ++i) {
    SCOPED_TRACE(::testing::Message() << "seed " << i);
    RandomPair random(1'500'000 + static_cast<std::uint64_t>(i));
    const Index d = random.integer(0, 9) == 0 ? random.integer(5, 20) : random.integer(1, 4);
    OuPair pair = random.pair(d, RandomPair::NoiseOf::equal, RandomPair::StartOf::different);
    if (random.integer(0, 1) == 0) pair.q = pair.p;
    pair.start_p.covariance = any_noise(random, d);
    if (random.integer(0, 1) == 0) {  // a little apart from each other
      const MatrixXd v = dense(pair.start_p.covariance);
      const SymmetricEigen eigen(v);
      VectorXd values = eigen.eigenvalues();
      for (double& value : values) value *= random.uniform(0.5, 1.0);
      const MatrixXd near =
          eigen.eigenvectors() * values.asDiagonal() * eigen.eigenvectors().transpose();
      pair.start_q = {pair.start_p.mean, Dense{0.5 * (near + near.transpose())}};
    } else {
      pair.start_q.covariance = any_noise(random, d);
    }
    const double time = random.log_uniform(1e-9, 1.0);
    for (const OuPair& direction : {pair, swapped(pair)}) {
      try {
        const double exact = exact_kl(direction, time).value.value();
        const KlBound bound = matched_process_bound(direction, time);
        if (!bound.reason.empty()) continue;
        ++bounded;
        EXPECT_GE(value(bound), exact * (1.0 - 1e-6) - 1e-9) << "t = " << time << ", d = " << d;
      } catch (const NumericalFailure&) {
      }
    }
  }
  EXPECT_GT(bounded, count / 2);
}

}  // namespace
}  // namespace sfumato
