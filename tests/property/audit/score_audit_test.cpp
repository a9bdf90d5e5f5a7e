// Spec §11.3: simulated audits of mechanisms whose epsilon and delta are known. A lower bound may be
// above the truth no more often than it says.
#include "sfumato/audit/score_audit.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <functional>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "sfumato/audit/runs_needed.hpp"
#include "sfumato/divergence/gdp.hpp"
#include "support/violations.hpp"

namespace sfumato {
namespace {

constexpr int kAudits = 2000;
constexpr std::size_t kModels = 60;  // per world
constexpr double kAlpha = 0.05;
constexpr double kFalseAlarm = 1e-6;  // of each test below, if the rate is exactly nominal
constexpr unsigned kSeed = 20230806;

using Engine = std::mt19937_64;

/// A pair of laws of scores, and what is true of it.
struct Mechanism {
  std::string name;
  std::function<ScoreSample(Engine&, std::size_t)> draw;
  std::function<double(double)> delta;  ///< of epsilon
  double mu;                            ///< infinite where the mechanism is not GDP
};

constexpr double kInf = std::numeric_limits<double>::infinity();

Mechanism gaussian(double mu, bool coupled) {
  return {coupled ? "coupled Gaussian" : "Gaussian",
          [=](Engine& engine, std::size_t size) {
            std::normal_distribution<double> normal;
            ScoreSample sample;
            for (std::size_t i = 0; i < size; ++i) {
              const double noise = normal(engine);
              sample.with.push_back(noise + mu);
              sample.without.push_back(coupled ? noise : normal(engine));
            }
            return sample;
          },
          [=](double eps) { return gdp_delta(mu, eps).delta; }, mu};
}

Mechanism randomised_response(double eps) {
  const double truth = 1.0 / (1.0 + std::exp(-eps));
  return {"randomised response",
          [=](Engine& engine, std::size_t size) {
            std::bernoulli_distribution honest(truth);
            ScoreSample sample;
            for (std::size_t i = 0; i < size; ++i) {
              sample.with.push_back(honest(engine) ? 1.0 : 0.0);
              sample.without.push_back(honest(engine) ? 0.0 : 1.0);
            }
            return sample;
          },
          [=](double e) { return std::max(0.0, truth - std::exp(e) * (1.0 - truth)); }, kInf};
}

Mechanism same_law() {
  Mechanism mechanism = gaussian(0.0, false);
  mechanism.name = "D = D'";
  return mechanism;
}

/// Whether any bound of the audit is above the truth.
bool violated(const Audit& audit, const Mechanism& mechanism) {
  for (const double delta : {0.0, 1e-5, 0.01, 0.2}) {
    const double eps = audit.epsilon(Delta(delta)).value.nats();
    // eps is above the true epsilon(delta) exactly if the true delta(eps) is below delta.
    if (eps > 0.0 && mechanism.delta(eps * (1.0 - 1e-9)) <= delta) return true;
  }
  for (const double eps : {0.0, 0.3, 1.0, 2.0}) {
    const double delta = audit.delta(Epsilon(eps)).value.probability();
    if (delta > mechanism.delta(eps) * (1.0 + 1e-9)) return true;
  }
  return audit.mu().value > mechanism.mu * (1.0 + 1e-9);
}

AuditOptions with_strategy(ThresholdStrategy strategy, std::vector<double> thresholds = {}) {
  AuditOptions options;
  options.confidence = 1.0 - kAlpha;
  options.strategy = strategy;
  options.delta = Delta(0.01);
  options.thresholds = std::move(thresholds);
  return options;
}

struct Case {
  std::string name;
  AuditOptions options;
};
const std::vector<Case>& cases() {
  static const std::vector<Case> all = {
      {"held_out", with_strategy(ThresholdStrategy::held_out)},
      {"ranks", with_strategy(ThresholdStrategy::ranks)},
      {"fixed", with_strategy(ThresholdStrategy::fixed, {0.5})},
      {"bonferroni",
       with_strategy(ThresholdStrategy::fixed, {-1.0, -0.5, 0.0, 0.5, 1.0, 1.5, 2.0})}};
  return all;
}

TEST(Coverage, OfEveryStrategyOnKnownMechanisms) {
  const int allowed = violations_allowed(kAudits, kAlpha, kFalseAlarm);
  Engine engine(kSeed);
  for (const Mechanism& mechanism :
       {gaussian(1.0, false), gaussian(1.0, true), randomised_response(1.0), same_law()}) {
    std::vector<int> violations(cases().size(), 0);
    for (int i = 0; i < kAudits; ++i) {
      const ScoreSample sample = mechanism.draw(engine, kModels);
      for (std::size_t c = 0; c < cases().size(); ++c) {
        AuditOptions options = cases()[c].options;
        options.seed = static_cast<std::uint64_t>(i);
        violations[c] += violated(audit_scores(sample, options), mechanism);
      }
    }
    for (std::size_t c = 0; c < cases().size(); ++c) {
      EXPECT_LE(violations[c], allowed)
          << mechanism.name << ", " << cases()[c].name << ", seed " << kSeed;
      std::printf("%-20s %-10s %4d of %d\n", mechanism.name.c_str(), cases()[c].name.c_str(),
                  violations[c], kAudits);
    }
  }
}

/// Five pairs of which the worst is the bound's subject: with equal pairs any of them may violate.
TEST(Coverage, OfSeveralSamplesAndOfLooks) {
  const int allowed = violations_allowed(kAudits, kAlpha, kFalseAlarm);
  const Mechanism mechanism = gaussian(1.0, false);
  Engine engine(kSeed + 1);
  int family = 0, looks = 0, pool = 0;
  for (int i = 0; i < kAudits; ++i) {
    std::vector<ScoreSample> samples;
    for (int pair = 0; pair < 5; ++pair) samples.push_back(mechanism.draw(engine, 30));
    AuditOptions options = with_strategy(ThresholdStrategy::ranks);
    family += violated(audit_scores(samples, options), mechanism);
    pool += violated(audit_scores(pooled(samples), options), mechanism);
    bool any = false;
    for (std::size_t look = 1; look <= 5 && !any; ++look) {  // the data grow from look to look
      AuditOptions open = with_strategy(ThresholdStrategy::fixed, {0.5});
      open.look = look;
      open.more_looks = true;
      any = violated(audit_scores(pooled(std::span(samples).first(look)), open), mechanism);
    }
    looks += any;
  }
  EXPECT_LE(family, allowed) << "seed " << kSeed + 1;
  EXPECT_LE(pool, allowed) << "seed " << kSeed + 1;
  EXPECT_LE(looks, allowed) << "seed " << kSeed + 1;
  std::printf("five pairs %d, pooled %d, five looks %d of %d\n", family, pool, looks, kAudits);
}

/// Replicas that draw their pair at random: what the pool shows, the worst pair has.
TEST(Coverage, PoolOfUnequalPairsBoundsTheWorst) {
  const int allowed = violations_allowed(kAudits, kAlpha, kFalseAlarm);
  const Mechanism weak = gaussian(0.0, false), strong = gaussian(1.0, false);
  Engine engine(kSeed + 2);
  int violations = 0;
  for (int i = 0; i < kAudits; ++i) {
    const std::vector<ScoreSample> samples = {weak.draw(engine, 10), strong.draw(engine, 40)};
    violations +=
        violated(audit_scores(pooled(samples), with_strategy(ThresholdStrategy::held_out)), strong);
  }
  EXPECT_LE(violations, allowed) << "seed " << kSeed + 2;
}

/// The mistake that the strategies avoid, so that the tests above are known to see it: the best pair at
/// its best threshold, uncorrected.
TEST(Coverage, BestOfManyPairsAndThresholdsViolates) {
  const Mechanism mechanism = same_law();
  Engine engine(kSeed + 3);
  int violations = 0;
  constexpr int kFew = 100;
  for (int i = 0; i < kFew; ++i) {
    bool any = false;
    for (int pair = 0; pair < 40 && !any; ++pair) {
      const ScoreSample sample = mechanism.draw(engine, 100);
      for (double threshold = -2.0; threshold <= 2.0 && !any; threshold += 0.1) {
        any = epsilon_lower(rate_bounds(counts_from(sample, threshold), kAlpha), Delta(0.0)) > 0.0;
      }
    }
    violations += any;
  }
  EXPECT_GT(violations, violations_allowed(kFew, kAlpha, kFalseAlarm));
  std::printf("best of 40 pairs and 41 thresholds, uncorrected: %d of %d\n", violations, kFew);
}

/// Perfect attacks reach the cap; good ones come near the truth.
TEST(Power, IsNotZero) {
  Engine engine(kSeed + 4);
  ScoreSample perfect;
  for (int i = 0; i < 100; ++i) {
    perfect.with.push_back(1.0);
    perfect.without.push_back(0.0);
  }
  for (const Case& test : cases()) {
    const Audit audit = audit_scores(perfect, test.options);
    const double shown = audit.epsilon(Delta(1e-5)).value.nats();
    EXPECT_DOUBLE_EQ(shown, audit.epsilon_cap(Delta(1e-5))) << test.name;
    EXPECT_GT(shown, 2.3) << test.name;  // 3.28 with all models and the whole level
    EXPECT_GT(audit.delta(Epsilon(1.0)).value.probability(), 0.6) << test.name;
  }
  const Mechanism strong = gaussian(3.0, false);
  for (const Case& test : cases()) {
    const Audit audit = audit_scores(strong.draw(engine, 2000), test.options);
    EXPECT_GT(audit.mu().value, 2.2) << test.name;
    EXPECT_GT(audit.epsilon(Delta(1e-5)).value.nats(), 1.8) << test.name;
  }
}

}  // namespace
}  // namespace sfumato
