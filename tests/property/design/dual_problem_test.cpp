// The derivatives that the solver trusts, against differences of values.
#include "sfumato/design/dual_problem.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <numeric>

#include "support/random_pairs.hpp"

namespace sfumato {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr std::uint64_t kSeed = 20240903;

/// D is of degree one: at weights that do not add up to one it is their sum times D on the simplex,
/// and its gradient is that on the simplex.
VectorXd gradient(DualProblem& dual, const VectorXd& weights) {
  return dual.evaluate(weights / weights.sum()).costs;
}

void check(DualProblem& dual, testing::RandomPairs& random) {
  const Index count = dual.count();
  VectorXd w(count);
  for (double& weight : w) weight = random.uniform(0.2, 1.0);
  w /= w.sum();
  const DualProblem::Point point = dual.evaluate(w);
  ASSERT_NEAR(point.costs.dot(w), point.dual, 1e-10 * point.dual);
  ASSERT_LE(point.lower_bound, point.dual);
  std::vector<Index> all(static_cast<std::size_t>(count));
  std::iota(all.begin(), all.end(), Index{0});
  const MatrixXd curvature = dual.curvature(all);
  for (int trial = 0; trial < 3; ++trial) {
    const double step = 1e-5;
    const VectorXd direction = random.vector(count) / static_cast<double>(count);
    const VectorXd up = w + step * direction;
    const VectorXd down = w - step * direction;
    const double risen = up.sum() * dual.evaluate(up / up.sum()).dual;
    const double fallen = down.sum() * dual.evaluate(down / down.sum()).dual;
    ASSERT_NEAR((risen - fallen) / (2.0 * step), point.costs.dot(direction),
                1e-5 * point.costs.norm() * direction.norm());
    const VectorXd bend = (gradient(dual, up) - gradient(dual, down)) / (2.0 * step);
    const VectorXd expected = curvature * direction;
    // A floor may begin or cease to bind inside the step, which shifts the difference by O(step).
    ASSERT_LE((bend - expected).norm(), 2e-4 * (expected.norm() + point.dual * direction.norm()));
  }
}

TEST(DualProblemProperty, Separable) {
  testing::RandomPairs random(kSeed);
  for (int round = 0; round < 500; ++round) {
    SCOPED_TRACE("seed " + std::to_string(kSeed) + " case " + std::to_string(round));
    const Index d = random.integer(1, 30);
    const RowMajorMatrix s = random.matrix(random.integer(1, 8), d);
    SeparableDual::Items items{random.vector(d).cwiseAbs().array() + 0.1, VectorXd::Zero(d),
                               VectorXd::Zero(d), 2.0};
    if (random.integer(0, 1) == 0) items.constants.setConstant(random.uniform(0.01, 0.5));
    if (random.integer(0, 1) == 0) {
      items.floors.setConstant(random.uniform(0.1, 0.9) * items.budget / static_cast<double>(d));
    }
    SeparableDual dual(s, items, 1);
    check(dual, random);
  }
}

TEST(DualProblemProperty, Spectral) {
  testing::RandomPairs random(kSeed + 1);
  for (int round = 0; round < 500; ++round) {
    SCOPED_TRACE("seed " + std::to_string(kSeed + 1) + " case " + std::to_string(round));
    const Index r = random.integer(1, 6);
    const MatrixXd coordinates = random.matrix(r + random.integer(2, 8), r);
    SpectralSpace space{0, 0.0, 0.0, 2.0};
    const int kind = random.integer(0, 3);
    if (kind > 0) space.rest = random.integer(0, 3);
    if (kind == 1 || kind == 3) space.regularisation = random.uniform(0.05, 0.5);
    if (kind >= 2) {
      space.floor = random.uniform(0.1, 0.9) * space.budget / static_cast<double>(r + space.rest);
    }
    SpectralDual dual(coordinates, space, 1);
    check(dual, random);
  }
}

}  // namespace
}  // namespace sfumato
