#include "lab/study/convex_trials.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "lab/study/convex_problem.hpp"
#include "lab/study/trial_runner.hpp"
#include "sfumato/divergence/gaussian_kl.hpp"
#include "sfumato/divergence/noisy_gd_gdp.hpp"
#include "support/temp_dir.hpp"

namespace sfumato::lab {
namespace {

class Silent final : public Observer {};

double score(const WorldResult& world, const std::string& name) {
  for (const NamedScore& s : world.scores) {
    if (s.name == name) return s.value;
  }
  return std::nan("");
}

constexpr const char* kQuadratic = R"(
[model]
kind = "quadratic"
curvature = [[2, 0.5], [0.5, 1]]
minimiser = [1, -1]
other_minimiser = [1.2, -1.1]
[train]
iterations = 20
learning_rate = 0.2
path_kl = true
[[noise]]
policy = "isotropic"
variance = 0.01
[audit]
replicas = 1500
)";

/// A table of six rows, and a study on it.
class ConvexOnTable : public ::testing::Test {
 protected:
  ConvexOnTable() { put(path_, "a,b,y\n1,0,1\n0,2,0\n1,1,1\n-1,0.5,0\n2,-1,1\n0.3,0.4,0\n"); }
  [[nodiscard]] Study study(const std::string& kind, const std::string& rest = "") const {
    return parse_study("[data]\nset = \"" + path_ +
                           "\"\n[adjacency]\nrecord = 3\n[model]\nkind = \"" + kind +
                           "\"\nridge = 0.1\n[train]\niterations = 30\nlearning_rate = 0.3\n"
                           "path_kl = true\n[[noise]]\npolicy = \"isotropic\"\nvariance = 0.04\n"
                           "[audit]\nreplicas = 3\n" +
                           rest,
                       "s.toml");
  }
  TempDir dir_;
  std::string path_ = dir_ / "t.csv";
};

TEST(ConvexTrials, TheMeanLogLikelihoodRatioIsTheRelativeEntropy) {
  const TrialRunner runner(parse_study(kQuadratic, "s.toml"));
  const ConvexProblem problem(parse_study(kQuadratic, "s.toml"));
  const ConvexPair pair = problem.pair(0);
  const auto [distribution, other] = chain_distributions(std::get<LinearLosses>(pair.losses),
                                                         pair.step, problem.step_noises().front());
  const WhitenedPair exact = whiten_at(distribution, other, 20);
  const double kl[2] = {gaussian_kl(exact).value.value(),
                        -gaussian_kl(swapped(exact)).value.value()};
  Silent observer;
  double sum[2] = {0, 0}, squares[2] = {0, 0};
  constexpr int kRuns = 1500;
  for (std::size_t group = 0; group < kRuns; ++group) {
    const TrialResult trial = runner.run(group, observer).front();
    ASSERT_EQ(trial.status, TrialStatus::ok);
    for (std::size_t w = 0; w < 2; ++w) {
      const double ratio = score(trial.worlds[w], "likelihood_ratio");
      sum[w] += ratio;
      squares[w] += ratio * ratio;
    }
  }
  for (std::size_t w = 0; w < 2; ++w) {
    const double mean = sum[w] / kRuns;
    const double error = std::sqrt((squares[w] / kRuns - mean * mean) / kRuns);
    EXPECT_NEAR(mean, kl[w], 5.0 * error);  // false alarm below 1e-6
    EXPECT_GT(std::fabs(kl[w]), 20.0 * error);
  }
  // Equal curvatures: the steps differ by a constant, so the path KL is the same in every run, and
  // the contractive bound of Spec §8.4 is above the exact mu.
  const ProvenRisk proven = proven_risk(pair, problem.step_noises().front(), 20);
  ASSERT_TRUE(proven.mu);
  EXPECT_NEAR(proven.mu->value * proven.mu->value / 2.0, kl[0], 1e-9);
  const TrialResult trial = runner.run(3, observer).front();
  EXPECT_NEAR(trial.worlds[0].path_kl, trial.worlds[1].path_kl, 1e-12);
  EXPECT_GT(trial.worlds[0].path_kl, kl[0]);
}

TEST_F(ConvexOnTable, MeanIsSumWithAShorterStepAndALargerRidge) {
  Silent observer;
  for (const char* kind : {"ridge", "logistic"}) {
    Study mean = study(kind), sum = study(kind);
    sum.train.loss = LossScale::sum;
    sum.train.learning_rate /= 6.0;
    sum.model.ridge *= 6.0;
    const TrialResult a = TrialRunner(mean).run(1, observer).front();
    const TrialResult b = TrialRunner(sum).run(1, observer).front();
    for (std::size_t w = 0; w < 2; ++w) {
      EXPECT_NEAR(score(a.worlds[w], "loss"), score(b.worlds[w], "loss"), 1e-12);
    }
  }
}

TEST_F(ConvexOnTable, ReplaysTheSameNormals) {
  // Full-batch descent by hand on D and on D', slots as the study draws them.
  const Study s = study("ridge");
  const ConvexProblem problem(s);
  Silent observer;
  const TrialResult trial = TrialRunner(s).run(2, observer).front();
  const std::vector<Record> records = problem.training_records(0);
  ASSERT_EQ(records.size(), 6U);
  const Record differing = *problem.pair(0).record;
  EXPECT_EQ(differing.features(0), 1.0);  // record 3
  EXPECT_EQ(differing.features(1), 1.0);
  EXPECT_EQ(differing.features(2), 1.0);  // intercept
  const Stream stream(StreamKey(trial.seed, Purpose::noise));
  for (std::size_t w = 0; w < 2; ++w) {
    Eigen::VectorXd x = Eigen::VectorXd::Zero(3);
    for (std::uint64_t step = 0; step < 30; ++step) {
      Eigen::VectorXd g = 0.1 * x;
      for (const Record& r : records) {
        if (w == 1 && r.features == differing.features) continue;
        g += (r.features.dot(x) - r.target) * r.features / 6.0;
      }
      Eigen::VectorXd z(3);
      stream.fill_normal(step, 0, std::span(z.data(), 3));
      x += -0.3 * g + 0.2 * z;
    }
    const double error = differing.features.dot(x) - differing.target;
    EXPECT_NEAR(score(trial.worlds[w], "loss"), -0.5 * error * error, 1e-10);
  }
}

TEST_F(ConvexOnTable, LogisticHasTheBoundOfItsLastIterate) {
  const Study s = study("logistic");
  const ConvexProblem problem(s);
  const ConvexPair pair = problem.pair(0);
  const ProvenRisk proven = proven_risk(pair, problem.step_noises().front(), 30);
  ASSERT_TRUE(proven.risk) << proven.reason;
  ASSERT_TRUE(proven.mu);
  // |grad f_l| <= |x| = sqrt(3); one record moves a step by eta/N of it, in units of the noise.
  const double sensitivity = 0.3 / 6.0 * std::sqrt(3.0) / 0.2;
  EXPECT_GE(proven.mu->value,
            noisy_gd_gdp(sensitivity, 1.0 - 0.3 * 0.1, 30).mu.value * (1 - 1e-12));
  EXPECT_LE(proven.mu->value, sensitivity * std::sqrt(30.0) * (1 + 1e-12));
  EXPECT_EQ(proven.mu->claim, Claim::upper_bound);
  Silent observer;
  const TrialResult trial = TrialRunner(s).run(0, observer).front();
  const double loss = -score(trial.worlds[0], "loss"), margin = score(trial.worlds[0], "margin");
  EXPECT_NEAR(loss, std::log1p(std::exp(-margin)), 1e-12);
  EXPECT_NEAR(score(trial.worlds[0], "confidence"), std::exp(-loss), 1e-12);
  EXPECT_TRUE(std::isnan(score(trial.worlds[0], "likelihood_ratio")));
  ASSERT_EQ(trial.worlds[1].series.size(), 1U);
  EXPECT_EQ(trial.worlds[1].series.front().values.size(), 6U);
}

TEST_F(ConvexOnTable, NoNoiseMeansNoBoundAndAnInfinitePathKl) {
  Study s = study("logistic");
  s.noise.front().rule = NoNoise{};
  const ConvexProblem problem(s);
  EXPECT_FALSE(proven_risk(problem.pair(0), problem.step_noises().front(), 30).risk);
  Silent observer;
  const TrialResult trial = TrialRunner(s).run(0, observer).front();
  EXPECT_TRUE(std::isinf(trial.worlds[0].path_kl));
  EXPECT_EQ(trial.worlds[0].infinite_steps, 30U);
}

TEST_F(ConvexOnTable, RefusesWhatDoesNotFit) {
  EXPECT_NE(
      message_of<InvalidArgument>([&] { (void)study("ridge", "canaries = 1\n"); }).find("canaries"),
      std::string::npos);
  Study labels = study("logistic");
  labels.data.label = "b";
  EXPECT_NE(message_of<InvalidArgument>([&] { ConvexProblem m(labels); }).find("neither 0 nor 1"),
            std::string::npos);
  Study many = study("ridge");
  many.data.records = 7;
  EXPECT_THROW(ConvexProblem m(many), InvalidArgument);
  EXPECT_THROW((void)load_sets(study("ridge")), InvalidArgument);
}

}  // namespace
}  // namespace sfumato::lab
