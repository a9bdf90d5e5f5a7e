// Audits meet the truth: exact distributions of noisy gradient descent, models that are really trained, and controls
// in which there is nothing to find.
#include <gtest/gtest.h>

#include <Eigen/QR>
#include <cmath>
#include <cstdio>
#include <random>

#include "lab/study/convex_problem.hpp"
#include "lab/study/policy_trials.hpp"
#include "lab/study/trial_runner.hpp"
#include "sfumato/audit/score_audit.hpp"
#include "sfumato/divergence/likelihood_ratio.hpp"
#include "sfumato/divergence/linear_chain.hpp"
#include "sfumato/divergence/noisy_gd_gdp.hpp"
#include "sfumato/sde/contraction.hpp"
#include "support/temp_dir.hpp"
#include "support/violations.hpp"

namespace sfumato::lab {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double kAlpha = 0.05;
constexpr double kFalseAlarm = 1e-6;  // of each comparison with a rate below
constexpr unsigned kSeed = 20230809;

struct Chance {
  std::mt19937_64 engine{kSeed};
  std::normal_distribution<double> normal;
  double uniform(double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(engine);
  }
  VectorXd normals(Eigen::Index size) {
    VectorXd values(size);
    for (double& value : values) value = normal(engine);
    return values;
  }
  /// A curvature of random axes with eigenvalues from 0.1 to 3.
  MatrixXd curvature(Eigen::Index size) {
    MatrixXd random(size, size);
    for (Eigen::Index j = 0; j < size; ++j) random.col(j) = normals(size);
    const MatrixXd q = Eigen::HouseholderQR<MatrixXd>(random).householderQ();
    VectorXd values(size);
    for (double& value : values) value = std::exp(uniform(std::log(0.1), std::log(3.0)));
    const MatrixXd made = q * values.asDiagonal() * q.transpose();
    return 0.5 * (made + made.transpose());
  }
};

/// Whether a bound of the audit is above the exact risk.
bool violates(const Audit& audit, const Risk& risk) {
  bool above = false;
  for (const double delta : {1e-5, 0.01, 0.2}) {
    above |=
        audit.epsilon(Delta(delta)).value.nats() > risk.epsilon(Delta(delta)).value.nats() + 1e-9;
  }
  return above || audit.delta(Epsilon(0.5)).value.probability() >
                      risk.delta(Epsilon(0.5)).value.probability() + 1e-9;
}

TEST(Truth, RandomQuadraticChains) {
  constexpr int kProblems = 1000;
  Chance chance;
  int violations = 0, shown = 0;
  for (int i = 0; i < kProblems; ++i) {
    const auto size = static_cast<Eigen::Index>(1 + i % 3);
    const bool same = i % 2 == 0;  // curvature
    LinearChainPair pair;
    pair.p.learning_rate = pair.q.learning_rate = chance.uniform(0.05, 0.6);
    pair.p.step_noise = pair.q.step_noise = Isotropic{std::exp(chance.uniform(-4.0, 0.0)), size};
    pair.start_p = pair.start_q = point_distribution(chance.normals(size));
    pair.p.curvature = chance.curvature(size);
    pair.q.curvature = same ? pair.p.curvature : chance.curvature(size);
    const VectorXd minimiser = chance.normals(size);
    pair.p.pull = pair.p.curvature * minimiser;
    pair.q.pull = pair.q.curvature * (minimiser + chance.uniform(0.0, 0.7) * chance.normals(size));
    const double steps = std::floor(std::exp(chance.uniform(0.0, 5.0)));

    const ChainDistribution p(pair.p, pair.start_p), q(pair.q, pair.start_q);
    const Risk exact = Risk::exact(whiten_at(p, q, steps));
    // Every upper bound is above the exact risk, in every view.
    const LinearChainPair back = swapped(pair);
    std::vector<Risk> upper = {Risk::from_kl(path_kl(pair, steps).kl, path_kl(back, steps).kl),
                               Risk::from_kl(best_contractive_bound(pair, steps).bound.kl,
                                             best_contractive_bound(back, steps).bound.kl)};
    if (same) {
      const VectorXd gap = pair.p.learning_rate * (pair.p.pull - pair.q.pull);
      const double sensitivity = std::sqrt(gap.dot(solve(pair.p.step_noise, gap).col(0)));
      const double lipschitz =
          linear_step_lipschitz(pair.q.curvature, pair.q.learning_rate, pair.p.step_noise);
      upper.push_back(Risk::from_gdp(noisy_gd_gdp(sensitivity, lipschitz, steps).mu));
    }
    for (const Risk& bound : upper) {
      for (const double epsilon : {0.0, 0.3, 1.0, 3.0}) {
        ASSERT_LE(exact.delta(Epsilon(epsilon)).value.probability(),
                  bound.delta(Epsilon(epsilon)).value.probability() * (1.0 + 1e-9) + 1e-12)
            << "problem " << i << ", seed " << kSeed;
      }
      ASSERT_LE(exact.epsilon(Delta(0.01)).value.nats(),
                bound.epsilon(Delta(0.01)).value.nats() * (1.0 + 1e-9) + 1e-9)
          << "problem " << i << ", seed " << kSeed;
    }
    // An audit by the best score there is.
    const GaussianDistribution distributions[2] = {p.at(steps), q.at(steps)};
    const LogLikelihoodRatio ratio(distributions[0], distributions[1]);
    const MatrixXd roots[2] = {root(distributions[0].covariance),
                               root(distributions[1].covariance)};
    ScoreSample sample;
    for (int k = 0; k < 60; ++k) {
      sample.with.push_back(
          ratio(distributions[0].mean + roots[0] * chance.normals(roots[0].cols())));
      sample.without.push_back(
          ratio(distributions[1].mean + roots[1] * chance.normals(roots[1].cols())));
    }
    AuditOptions options;
    options.confidence = 1.0 - kAlpha;
    options.delta = Delta(0.01);
    options.seed = static_cast<std::uint64_t>(i);
    const Audit audit = audit_scores(sample, options);
    violations += violates(audit, exact) ? 1 : 0;
    shown += audit.epsilon(Delta(0.01)).value.nats() > 0.0 ? 1 : 0;
  }
  EXPECT_LE(violations, violations_allowed(kProblems, kAlpha, kFalseAlarm)) << "seed " << kSeed;
  EXPECT_GT(shown, kProblems / 10);  // audits are not silent
  std::printf("%d of %d audits above the exact risk, %d positive\n", violations, kProblems, shown);
}

/// Scores of many groups of a study, policy 0.
ScoreSample trained_sample(const TrialRunner& runner, std::size_t first, std::size_t groups,
                           const std::string& name) {
  Observer observer;
  ScoreSample sample;
  for (std::size_t group = first; group < first + groups; ++group) {
    const TrialResult trial = runner.run(group, observer).front();
    for (std::size_t w = 0; w < 2; ++w) {
      for (const NamedScore& score : trial.worlds.at(w).scores) {
        if (score.name == name) (w == 0 ? sample.with : sample.without).push_back(score.value);
      }
    }
  }
  return sample;
}

TEST(Truth, TrainedRidgeModelsStayBelowTheirExactRisk) {
  const TempDir dir;
  Chance chance;
  std::string table;
  for (int i = 0; i < 12; ++i) {
    const VectorXd row = chance.normals(3);
    table +=
        std::to_string(row(0)) + "," + std::to_string(row(1)) + "," + std::to_string(row(2)) + "\n";
  }
  put(dir / "t.csv", table);
  constexpr int kAudits = 200, kModels = 40;
  const Study study = parse_study("[data]\nset = \"" + (dir / "t.csv") +
                                      "\"\n[model]\nkind = \"ridge\"\nridge = 0.1\n[train]\n"
                                      "iterations = 25\nlearning_rate = 0.3\n[[noise]]\npolicy = "
                                      "\"isotropic\"\nvariance = 5e-3\n[audit]\nreplicas = 8000\n",
                                  "s.toml");
  const TrialRunner runner(study);
  const ConvexProblem problem(study);
  const ProvenRisk exact = proven_risk(problem.pair(0), problem.step_noises().front(), 25);
  ASSERT_TRUE(exact.risk) << exact.reason;
  int violations = 0, shown = 0;
  for (int i = 0; i < kAudits; ++i) {
    AuditOptions options;
    options.confidence = 1.0 - kAlpha;
    options.delta = Delta(0.01);
    const ScoreSample sample =
        trained_sample(runner, static_cast<std::size_t>(i * kModels), kModels, "likelihood_ratio");
    const Audit audit = audit_scores(sample, options);
    violations += violates(audit, *exact.risk) ? 1 : 0;
    shown += audit.epsilon(Delta(0.01)).value.nats() > 0.0 ? 1 : 0;
  }
  EXPECT_LE(violations, violations_allowed(kAudits, kAlpha, kFalseAlarm));
  EXPECT_GT(shown, kAudits / 10);
  std::printf("ridge: %d of %d audits above the exact risk, %d positive\n", violations, kAudits,
              shown);
}

/// A small network on random records with random labels, which it can learn by heart.
class Networks : public ::testing::Test {
 protected:
  Networks() {
    Chance chance;
    std::string text;
    for (int i = 0; i < 30; ++i) {
      for (int j = 0; j < 40; ++j) text += std::to_string(chance.normal(chance.engine)) + ",";
      text += std::to_string(chance.engine() % 2) + "\n";
    }
    put(path_, text);
  }
  [[nodiscard]] Study study(const std::string& noise, const std::string& audit,
                            const std::string& rate = "0.3") const {
    return parse_study(
        "[data]\nset = \"" + path_ +
            "\"\nrecords = 24\n[[model.layers]]\ntype = \"linear\"\noutputs = 2\n[train]\n"
            "iterations = 40\nbatch_size = 8\nlearning_rate = " +
            rate + "\n[[noise]]\n" + noise + "\n[audit]\n" + audit,
        "s.toml");
  }
  /// How many of `audits` show a positive epsilon, by samples of 20 models per data set.
  [[nodiscard]] static int positive(const TrialRunner& runner, int audits) {
    int found = 0;
    for (int i = 0; i < audits; ++i) {
      AuditOptions options;
      options.confidence = 1.0 - kAlpha;
      options.strategy = i % 2 == 0 ? ThresholdStrategy::combined : ThresholdStrategy::ranks;
      const ScoreSample sample =
          trained_sample(runner, static_cast<std::size_t>(20 * i), 20, "margin");
      found += audit_scores(sample, options).epsilon(Delta(1e-5)).value.nats() > 0.0 ? 1 : 0;
    }
    return found;
  }
  TempDir dir_;
  std::string path_ = dir_ / "t.csv";
};

constexpr int kControls = 150;

TEST_F(Networks, WhereDEqualsDPrimeNothingIsFound) {
  // All records are the same, so D' with another in the place of one is D.
  std::string row;
  for (int j = 0; j < 40; ++j) row += j % 3 == 0 ? "1," : "-0.5,";
  std::string text;
  for (int i = 0; i < 30; ++i) text += row + "1\n";
  put(path_, text);
  for (const char* coupled : {"true", "false"}) {
    Study same = study("policy = \"isotropic\"\nvariance = 0.01",
                       std::string("replicas = 3000\ncoupled = ") + coupled + "\n");
    same.adjacency.kind = Adjacency::replace;
    const int found = positive(TrialRunner(same), kControls);
    EXPECT_LE(found, violations_allowed(kControls, kAlpha, kFalseAlarm));
    std::printf("D = D', coupled %s: %d of %d audits positive\n", coupled, found, kControls);
  }
}

TEST_F(Networks, ADataIndependentTrainerIsNotAccused) {
  // Steps so short that no weight moves: initial weights and noise, no data.
  const TrialRunner runner(study("policy = \"isotropic\"\nvariance = 0.01",
                                 "coupled = false\nreplicas = 3000\n", "1e-30"));
  const int found = positive(runner, kControls);
  EXPECT_LE(found, violations_allowed(kControls, kAlpha, kFalseAlarm));
  std::printf("data-independent trainer: %d of %d audits positive\n", found, kControls);
}

TEST_F(Networks, TrainingWithoutNoiseOnAMemorisingModelIsCaught) {
  const TrialRunner runner(study("policy = \"none\"", "replicas = 200\n"));
  const ScoreSample sample = trained_sample(runner, 0, 200, "margin");
  const Audit audit = audit_scores(sample, AuditOptions{});
  const double shown = audit.epsilon(Delta(1e-5)).value.nats();
  EXPECT_GT(shown, 1.0);  // a claim of eps = 1 is refuted
  std::printf("memorising without noise: eps >= %.3f, cap %.3f\n", shown,
              audit.maximum_epsilon(Delta(1e-5)));
}

}  // namespace
}  // namespace sfumato::lab
