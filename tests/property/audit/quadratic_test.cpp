// Audits meet exact distributions: random quadratic problems, whose final weights are normal on D and on D'.
// The attacker knows both distributions and scores by the exact likelihood ratio.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <random>

#include "sfumato/audit/score_audit.hpp"
#include "sfumato/risk/risk.hpp"
#include "sfumato/sde/ou_distribution.hpp"
#include "support/violations.hpp"

namespace sfumato {
namespace {

constexpr int kProblems = 2000;
constexpr double kAlpha = 0.05;
constexpr double kFalseAlarm = 1e-6;
constexpr unsigned kSeed = 20230809;

struct Line {
  double mean, variance;
  [[nodiscard]] double log_density(double x) const {
    return -0.5 * ((x - mean) * (x - mean) / variance + std::log(variance));
  }
};

TEST(QuadraticAudit, IsAboveTheExactRiskNoMoreOftenThanItSays) {
  std::mt19937_64 engine(kSeed);
  std::normal_distribution<double> normal;
  const auto uniform = [&](double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(engine);
  };
  int combined = 0, ranks = 0, shown = 0;
  for (int i = 0; i < kProblems; ++i) {
    // Spec §5, one parameter: curvature and minimiser differ, noise and start agree.
    const double noise = std::exp(uniform(-2.0, 2.0)), time = uniform(0.1, 5.0);
    const Eigen::VectorXd start = Eigen::VectorXd::Constant(1, normal(engine));
    GaussianDistribution distributions[2];
    Line lines[2];
    for (int world = 0; world < 2; ++world) {
      const double rate = std::exp(uniform(-1.0, 1.0)), target = 2.0 * normal(engine);
      const OuProcess process{Eigen::MatrixXd::Constant(1, 1, rate),
                              Eigen::VectorXd::Constant(1, rate * target), Isotropic{noise, 1}};
      distributions[world] = OuDistribution(process, point_distribution(start)).at(time);
      lines[world] = {distributions[world].mean(0), dense(distributions[world].covariance)(0, 0)};
    }
    const Risk risk = Risk::exact(whiten(distributions[0], distributions[1]));
    ScoreSample sample;
    for (int k = 0; k < 40; ++k) {
      for (int world = 0; world < 2; ++world) {
        const double x = lines[world].mean + std::sqrt(lines[world].variance) * normal(engine);
        const double score = lines[0].log_density(x) - lines[1].log_density(x);
        (world == 0 ? sample.with : sample.without).push_back(score);
      }
    }
    AuditOptions options;
    options.confidence = 1.0 - kAlpha;
    options.delta = Delta(0.01);
    options.seed = static_cast<std::uint64_t>(i);
    for (const auto strategy : {ThresholdStrategy::combined, ThresholdStrategy::ranks}) {
      options.strategy = strategy;
      const Audit audit = audit_scores(sample, options);
      bool violated = false;
      for (const double delta : {1e-5, 0.01, 0.2}) {
        const double found = audit.epsilon(Delta(delta)).value.nats();
        violated |= found > risk.epsilon(Delta(delta)).value.nats() + 1e-9;
        shown += found > 0.0;
      }
      violated |= audit.delta(Epsilon(0.5)).value.probability() >
                  risk.delta(Epsilon(0.5)).value.probability() + 1e-9;
      (strategy == ThresholdStrategy::ranks ? ranks : combined) += violated;
    }
  }
  const int allowed = violations_allowed(kProblems, kAlpha, kFalseAlarm);
  EXPECT_LE(combined, allowed) << "seed " << kSeed;
  EXPECT_LE(ranks, allowed) << "seed " << kSeed;
  EXPECT_GT(shown, kProblems);  // of six bounds each: audits are not silent
  std::printf("combined %d, ranks %d of %d; %d of %d bounds positive\n", combined, ranks, kProblems,
              shown, 6 * kProblems);
}

}  // namespace
}  // namespace sfumato
