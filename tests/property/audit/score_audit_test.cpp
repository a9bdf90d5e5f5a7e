// Spec §11.3: simulated audits of mechanisms whose epsilon and delta are known. A lower bound may be
// above the truth no more often than it says.
#include "sfumato/audit/score_audit.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "sfumato/audit/lower_bounds.hpp"
#include "sfumato/core/infinity.hpp"
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

/// A pair of distributions of scores, and what is true of it.
struct Mechanism {
  std::string name;
  std::function<ScoreSample(Engine&, std::size_t)> draw;
  std::function<double(double)> delta;  ///< of epsilon
  double mu;                            ///< infinite where the mechanism is not GDP
};

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

Mechanism same_distribution() {
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
      {"combined", with_strategy(ThresholdStrategy::combined)},
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
       {gaussian(1.0, false), gaussian(1.0, true), randomised_response(1.0), same_distribution()}) {
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

/// Scores of three values, the middle one by far the most frequent: nearly all are ties. delta(eps) is the
/// largest of the sums of p - e^eps q over sets of values.
Mechanism three_values() {
  constexpr double kWith[] = {0.02, 0.88, 0.10}, kWithout[] = {0.06, 0.90, 0.04};
  const auto distribution = [](const double(&p)[3]) {
    return std::discrete_distribution<int>(std::begin(p), std::end(p));
  };
  return {"three values",
          [=](Engine& engine, std::size_t size) {
            auto with = distribution(kWith), without = distribution(kWithout);
            ScoreSample sample;
            for (std::size_t i = 0; i < size; ++i) {
              sample.with.push_back(with(engine));
              sample.without.push_back(without(engine));
            }
            return sample;
          },
          [=](double eps) {
            double one = 0.0, other = 0.0;
            for (int i = 0; i < 3; ++i) {
              one += std::max(0.0, kWith[i] - std::exp(eps) * kWithout[i]);
              other += std::max(0.0, kWithout[i] - std::exp(eps) * kWith[i]);
            }
            return std::max(one, other);
          },
          kInf};
}

/// The default at other confidences and sizes, with and without ties.
TEST(Coverage, OfTheDefaultAtEveryConfidence) {
  constexpr int kEach = 400;
  Engine engine(kSeed + 5);
  for (const Mechanism& mechanism :
       {gaussian(1.0, false), gaussian(1.0, true), randomised_response(1.0), three_values()}) {
    for (const double confidence : {0.5, 0.8, 0.95, 0.99}) {
      for (const std::size_t models : {20U, 150U}) {
        AuditOptions options = with_strategy(ThresholdStrategy::combined);
        options.confidence = confidence;
        int violations = 0;
        for (int i = 0; i < kEach; ++i) {
          options.seed = static_cast<std::uint64_t>(i);
          violations += violated(audit_scores(mechanism.draw(engine, models), options), mechanism);
        }
        EXPECT_LE(violations, violations_allowed(kEach, 1.0 - confidence, kFalseAlarm))
            << mechanism.name << ", confidence " << confidence << ", " << models << " models, seed "
            << kSeed + 5;
      }
    }
  }
}

/// What a threshold that was known beforehand would show, at the whole level: nobody has it, and the default
/// stays within a factor of it; ranks or held-out alone do not.
TEST(Power, TheDefaultIsNeverFarFromTheBest) {
  Engine engine(kSeed + 6);
  const auto median = [](std::vector<double> values) {
    std::nth_element(values.begin(), values.begin() + std::ssize(values) / 2, values.end());
    return values[values.size() / 2];
  };
  for (const Mechanism& mechanism :
       {gaussian(1.0, false), gaussian(4.0, false), randomised_response(1.0)}) {
    std::vector<ScoreSample> samples;
    for (int i = 0; i < 41; ++i) samples.push_back(mechanism.draw(engine, 300));
    const auto shown = [&](const AuditOptions& options) {
      std::vector<double> values;
      for (const ScoreSample& sample : samples) {
        values.push_back(audit_scores(sample, options).epsilon(Delta(1e-5)).value.nats());
      }
      return median(values);
    };
    double best = 0.0;
    for (double threshold = -2.0; threshold <= 6.0; threshold += 0.25) {
      best = std::max(best, shown(with_strategy(ThresholdStrategy::fixed, {threshold})));
    }
    const double found = shown(with_strategy(ThresholdStrategy::combined));
    EXPECT_GT(found, 0.78 * best) << mechanism.name;
    std::printf("%-20s best threshold %.3f, default %.3f, held-out %.3f, ranks %.3f\n",
                mechanism.name.c_str(), best, found,
                shown(with_strategy(ThresholdStrategy::held_out)),
                shown(with_strategy(ThresholdStrategy::ranks)));
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
  const Mechanism mechanism = same_distribution();
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
    EXPECT_DOUBLE_EQ(shown, audit.maximum_epsilon(Delta(1e-5))) << test.name;
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
