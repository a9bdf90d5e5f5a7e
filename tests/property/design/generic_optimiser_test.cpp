// The closed forms and the minimax solver against NLopt, which knows nothing about the problem.
#include <gtest/gtest.h>

#include <Eigen/Cholesky>
#include <cmath>
#include <functional>
#include <nlopt.hpp>
#include <vector>

#include "sfumato/design/average_design.hpp"
#include "sfumato/design/minimax_design.hpp"
#include "support/random_pairs.hpp"

namespace sfumato {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr std::uint64_t kSeed = 20240905;

/// Minimises a function of a covariance of trace one over its Cholesky factor, whose squared length is
/// the trace; the objective is free of the length, so there is no constraint.
template <class Cost>
double minimise_over_factors(Index d, bool full, const Cost& cost, nlopt::algorithm algorithm) {
  const auto covariance = [&](const std::vector<double>& x) {
    MatrixXd root = MatrixXd::Zero(d, d);
    std::size_t next = 0;
    for (Index i = 0; i < d; ++i) {
      for (Index j = full ? 0 : i; j <= i; ++j) root(i, j) = x[next++];
    }
    return MatrixXd(root * root.transpose() / root.squaredNorm());
  };
  std::vector<double> x;
  for (Index i = 0; i < d; ++i) {
    for (Index j = full ? 0 : i; j <= i; ++j) x.push_back(i == j ? 1.0 : 0.0);
  }
  nlopt::opt optimiser(algorithm, static_cast<unsigned>(x.size()));
  const nlopt::vfunc objective = [](const std::vector<double>& at, std::vector<double>&,
                                    void* data) {
    return (*static_cast<const std::function<double(const std::vector<double>&)>*>(data))(at);
  };
  std::function<double(const std::vector<double>&)> f = [&](const std::vector<double>& at) {
    const double value = cost(covariance(at));
    return std::isfinite(value) ? value : 1e300;
  };
  optimiser.set_min_objective(objective, &f);
  optimiser.set_ftol_rel(1e-13);
  optimiser.set_xtol_rel(1e-10);
  optimiser.set_maxeval(20000);
  double best = HUGE_VAL;
  for (int restart = 0; restart < 4; ++restart) {
    optimiser.set_initial_step(0.1);
    double value = HUGE_VAL;
    (void)optimiser.optimize(x, value);
    best = std::min(best, value);
  }
  return best;
}

TEST(GenericOptimiser, AverageDesigns) {
  testing::RandomPairs random(kSeed);
  for (int round = 0; round < 20; ++round) {
    SCOPED_TRACE("seed " + std::to_string(kSeed) + " case " + std::to_string(round));
    const Index d = random.integer(2, 3);
    const MatrixXd g = random.spd(d);
    const bool full = round % 2 == 0;
    const double found = minimise_over_factors(
        d, full, [&](const MatrixXd& s) { return Eigen::LLT<MatrixXd>(s).solve(g).trace(); },
        nlopt::LN_SBPLX);
    const Design design = average_design(
        Dense{g},
        {.budget = trace_budget(d, 1.0), .form = full ? DesignForm::full : DesignForm::diagonal});
    EXPECT_NEAR(found, design.value, 1e-5 * design.value);
    EXPECT_GE(found, design.lower_bound * (1.0 - 1e-10));
  }
}

TEST(GenericOptimiser, MinimaxDesigns) {
  testing::RandomPairs random(kSeed + 1);
  Observer quiet;
  for (int round = 0; round < 20; ++round) {
    SCOPED_TRACE("seed " + std::to_string(kSeed + 1) + " case " + std::to_string(round));
    const Index d = 2;
    const RowMajorMatrix s = random.matrix(random.integer(3, 6), d);
    const bool full = round % 2 == 0;
    const double found = minimise_over_factors(
        d, full,
        [&](const MatrixXd& m) {
          const MatrixXd half = Eigen::LLT<MatrixXd>(m).matrixL().solve(MatrixXd(s.transpose()));
          return half.colwise().squaredNorm().maxCoeff();
        },
        nlopt::LN_NELDERMEAD);
    const Design design = minimax_design(
        s, {.budget = trace_budget(d, 1.0), .form = full ? DesignForm::full : DesignForm::diagonal},
        {}, quiet);
    EXPECT_NEAR(found, design.value, 1e-5 * design.value);
    EXPECT_GE(found, design.lower_bound * (1.0 - 1e-10));
  }
}

}  // namespace
}  // namespace sfumato
