#include "sfumato/design/bounded_quadratic.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "support/random_pairs.hpp"

namespace sfumato {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr std::uint64_t kSeed = 20240904;

TEST(BoundedQuadraticProperty, MeetsTheOptimalityConditions) {
  testing::RandomPairs random(kSeed);
  for (int round = 0; round < 1000; ++round) {
    SCOPED_TRACE("seed " + std::to_string(kSeed) + " case " + std::to_string(round));
    const Index n = random.integer(1, 20);
    const MatrixXd q = random.spd(n);
    const VectorXd c = 3.0 * random.vector(n);
    const VectorXd lower = random.vector(n);
    const VectorXd start = lower + random.vector(n).cwiseAbs();
    const VectorXd x = minimise_bounded_quadratic(q, c, lower, start, 60);
    const VectorXd pull = c - q * x;
    for (Index i = 0; i < n; ++i) {
      ASSERT_GE(x(i), lower(i));
      ASSERT_LE(pull(i), 1e-7 * (c.norm() + q.norm()));
      if (x(i) > lower(i)) {
        ASSERT_GE(pull(i), -1e-7 * (c.norm() + q.norm()));
      }
    }
    // Cut short it is still no worse than the start.
    const VectorXd cut = minimise_bounded_quadratic(q, c, lower, start, 1);
    const auto value = [&](const VectorXd& y) { return 0.5 * y.dot(q * y) - c.dot(y); };
    ASSERT_LE(value(cut), value(start) + 1e-10 * std::abs(value(start)));
    ASSERT_TRUE((cut.array() >= lower.array()).all());
  }
}

}  // namespace
}  // namespace sfumato
