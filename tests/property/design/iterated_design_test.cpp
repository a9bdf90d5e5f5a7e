#include "sfumato/design/iterated_design.hpp"

#include <gtest/gtest.h>

#include <Eigen/QR>
#include <cmath>
#include <random>

#include "sfumato/design/noise_judges.hpp"
#include "sfumato/divergence/ou_pair.hpp"

namespace sfumato {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

class Cases {
 public:
  explicit Cases(unsigned seed) : engine_(seed) {}
  double normal() { return normal_(engine_); }
  double log_uniform(double low, double high) {
    return low * std::pow(high / low, uniform_(engine_));
  }
  VectorXd vector(Index d) {
    return VectorXd::NullaryExpr(d, [&](Index) { return normal(); });
  }
  MatrixXd definite(Index d, double low, double high) {
    const MatrixXd gauss = MatrixXd::NullaryExpr(d, d, [&](Index, Index) { return normal(); });
    const MatrixXd q = Eigen::HouseholderQR<MatrixXd>(gauss).householderQ();
    const VectorXd l = VectorXd::NullaryExpr(d, [&](Index) { return log_uniform(low, high); });
    return q * l.asDiagonal() * q.transpose();
  }
  bool coin() { return uniform_(engine_) < 0.5; }

 private:
  std::mt19937 engine_;
  std::normal_distribution<double> normal_;
  std::uniform_real_distribution<double> uniform_;
};

struct Problem {
  OuPair pair;
  DesignTask task;
  double time;
};

Problem draw(Cases& cases, bool equal_hessians, DesignForm form) {
  const Index d = 2 + static_cast<Index>(cases.log_uniform(1.0, 3.99)) - 1;
  const MatrixXd a = cases.definite(d, 0.2, 20.0);
  const MatrixXd b = equal_hessians ? a : MatrixXd(a + 0.1 * cases.definite(d, 0.1, 2.0));
  const GaussianDistribution start = point_distribution(VectorXd::Zero(d));
  const Covariance unit = Isotropic{1.0, d};
  const MatrixXd weights = cases.definite(d, 0.3, 3.0);
  return {{{a, cases.vector(d), unit}, start, {b, cases.vector(d), unit}, start},
          {.budget = {Dense{weights}, cases.log_uniform(0.1, 10.0)}, .form = form},
          cases.log_uniform(0.1, 10.0)};
}

IteratedDesign solved(const Problem& problem) {
  Observer observer;
  return iterate_design(
      [&](const Covariance& noise) { return judge_linear(problem.pair, noise, problem.time); },
      problem.task, {.max_rounds = 40, .tolerance = 1e-7}, observer);
}

double kl_of(const Problem& problem, const Covariance& noise) {
  OuPair pair = problem.pair;
  pair.p.noise = pair.q.noise = noise;
  return exact_kl(pair, problem.time).value.value();
}

TEST(IteratedDesignProperty, AcceptedRoundsImproveAndKeepTheBudget) {
  for (unsigned seed = 0; seed < 500; ++seed) {
    SCOPED_TRACE(seed);
    Cases cases(seed);
    const DesignForm form = cases.coin() ? DesignForm::diagonal : DesignForm::full;
    const Problem problem = draw(cases, cases.coin(), form);
    const IteratedDesign result = solved(problem);
    double last = HUGE_VAL;
    for (std::size_t i = 0; i < result.rounds.size(); ++i) {
      const DesignRound& round = result.rounds[i];
      EXPECT_NEAR(weighted_trace(problem.task.budget.weights, round.noise),
                  problem.task.budget.total, 1e-8 * problem.task.budget.total);
      EXPECT_TRUE(is_definite(round.noise));
      if (!round.accepted) continue;
      EXPECT_LT(round.kl.value.value(), last);
      last = round.kl.value.value();
    }
    EXPECT_EQ(result.result().kl.value.value(), last);
    EXPECT_NEAR(kl_of(problem, result.result().noise), last, 1e-9 * last);
  }
}

// With equal Hessians the KL is convex in Sigma: no noise of the form and budget does better.
TEST(IteratedDesignProperty, NoRandomNoiseDoesBetterWhereTheKlIsConvex) {
  for (unsigned seed = 0; seed < 500; ++seed) {
    SCOPED_TRACE(seed);
    Cases cases(seed);
    const bool full = cases.coin();
    const Problem problem = draw(cases, true, full ? DesignForm::full : DesignForm::diagonal);
    const IteratedDesign result = solved(problem);
    const double best = result.result().kl.value.value();
    const Index d = problem.pair.p.pull.size();
    for (int trial = 0; trial < 20; ++trial) {
      // Where the optimum is singular the rounds approach it slowly; they end unproven.
      const double slack = result.end == IterationEnd::stationary ? 1e-6 : 0.05;
      // Half of them near the result, where a better one would be found most easily.
      MatrixXd noise = cases.definite(d, 1e-3, 1.0);
      if (trial % 2 == 0) noise = dense(result.result().noise) + 0.05 * noise * noise.trace();
      if (!full) noise = MatrixXd(noise.diagonal().asDiagonal());
      const double spent = weighted_trace(problem.task.budget.weights, Dense{noise});
      noise *= problem.task.budget.total / spent;
      EXPECT_GE(kl_of(problem, Dense{noise}), best * (1.0 - slack));
    }
  }
}

}  // namespace
}  // namespace sfumato
