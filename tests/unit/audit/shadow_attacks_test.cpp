#include "sfumato/audit/shadow_attacks.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "sfumato/audit/roc.hpp"

namespace sfumato {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Kind = LiraOptions::Kind;
using Variance = LiraOptions::Variance;

ShadowScores random_shadows(Index models, Index records, double shift, unsigned seed) {
  std::mt19937_64 engine(seed);
  std::normal_distribution<double> normal;
  ShadowScores shadows{MatrixXd(models, records), MembershipMask(models, records)};
  for (Index r = 0; r < records; ++r) {
    const double hardness = 3.0 * normal(engine);
    for (Index m = 0; m < models; ++m) {
      shadows.member(m, r) = std::bernoulli_distribution(0.5)(engine);
      shadows.logits(m, r) = hardness + shift * shadows.member(m, r) + normal(engine);
    }
  }
  return shadows;
}

/// log N(x; mean, variance) of the logits of one world without the target, in two passes.
double log_density(const ShadowScores& shadows, Index target, Index record, int world) {
  double mean = 0.0, count = 0.0, scatter = 0.0;
  const auto each = [&](auto&& use) {
    for (Index m = 0; m < shadows.logits.rows(); ++m) {
      if (m != target && (shadows.member(m, record) != 0) == (world == 1)) {
        use(shadows.logits(m, record));
      }
    }
  };
  each([&](double x) { mean += x, ++count; });
  mean /= count;
  each([&](double x) { scatter += (x - mean) * (x - mean); });
  const double variance = scatter / (count - 1.0);
  const double gap = shadows.logits(target, record) - mean;
  return -0.5 * gap * gap / variance - 0.5 * std::log(variance);
}

TEST(Lira, EqualsTheRatioOfFittedNormals) {
  const ShadowScores shadows = random_shadows(24, 5, 2.0, 1);
  const MatrixXd scores = lira_scores(shadows, {Kind::online, Variance::per_record});
  for (Index m = 0; m < 24; ++m) {
    for (Index r = 0; r < 5; ++r) {
      EXPECT_NEAR(scores(m, r), log_density(shadows, m, r, 1) - log_density(shadows, m, r, 0),
                  1e-9);
    }
  }
}

TEST(Lira, BeatsTheLossAndOfflineStaysBehindOnline) {
  const ShadowScores shadows = random_shadows(40, 200, 2.0, 2);
  const auto auc = [&](const MatrixXd& scores) {
    return Roc(by_membership(scores, shadows.member)).auc();
  };
  const double online = auc(lira_scores(shadows, {Kind::online, Variance::global}));
  const double offline = auc(lira_scores(shadows, {Kind::offline, Variance::global}));
  const double loss = auc(loss_scores(shadows.logits));
  const double rmia = auc(rmia_scores(shadows));
  EXPECT_NEAR(online, 0.5 * std::erfc(-1.0), 0.02);  // N(2, 1) against N(0, 1): Phi(sqrt 2)
  EXPECT_GT(offline, loss + 0.1);
  EXPECT_LE(offline, online + 0.01);
  EXPECT_GT(rmia, loss + 0.05);
}

TEST(Lira, OnFreshTargetsEqualsLeaveOneOut) {
  const ShadowScores all = random_shadows(20, 6, 1.0, 3);
  ShadowScores rest{all.logits.topRows(19), all.member.topRows(19)};
  for (const LiraOptions& options : {LiraOptions{Kind::online, Variance::global},
                                     LiraOptions{Kind::offline, Variance::per_record}}) {
    const MatrixXd fresh = lira_scores(rest, all.logits.bottomRows(1), options);
    const MatrixXd left_out = lira_scores(all, options).bottomRows(1);
    EXPECT_LT((fresh - left_out).cwiseAbs().maxCoeff(), 1e-8);
  }
}

TEST(Rmia, EqualsTheDefinition) {
  const ShadowScores shadows = random_shadows(10, 12, 1.0, 4);
  const MatrixXd p = shadows.logits.unaryExpr([](double x) { return 1.0 / (1.0 + std::exp(-x)); });
  for (const double gamma : {0.5, 1.0, 2.0}) {
    const MatrixXd scores = rmia_scores(shadows, {gamma, true, 0.3});
    const auto ratio = [&](Index m, Index r) {
      double sum[2] = {}, count[2] = {};
      for (Index o = 0; o < 10; ++o) {
        if (o == m) continue;
        sum[shadows.member(o, r)] += p(o, r);
        ++count[shadows.member(o, r)];
      }
      return p(m, r) / (0.5 * (sum[0] / count[0] + sum[1] / count[1]));
    };
    for (Index r = 0; r < 12; ++r) {
      double beaten = 0.0, others = 0.0;
      for (Index z = 0; z < 12; ++z) {
        if (z == r || shadows.member(3, z) != 0) continue;
        ++others;
        beaten += ratio(3, r) / gamma >= ratio(3, z);
      }
      EXPECT_NEAR(scores(3, r), beaten / others, 1e-12) << "gamma " << gamma;
    }
  }
}

TEST(ShadowScores, OneRecordPerModel) {
  const ShadowScores shadows = random_shadows(30, 4, 0.0, 5);
  const ScoreSample sample = one_record_per_model(shadows.logits, shadows.member, 1);
  EXPECT_EQ(sample.with.size() + sample.without.size(), 30u);
  EXPECT_NE(one_record_per_model(shadows.logits, shadows.member, 2).with, sample.with);
  const ScoreSample all = by_membership(shadows.logits, shadows.member);
  EXPECT_EQ(all.with.size() + all.without.size(), 120u);
}

TEST(ShadowScores, Refusals) {
  ShadowScores shadows = random_shadows(6, 3, 1.0, 6);
  EXPECT_THROW(require_shadows({MatrixXd(), MembershipMask()}), InvalidArgument);
  EXPECT_THROW(require_shadows({shadows.logits, shadows.member.topRows(2)}), InvalidArgument);
  EXPECT_THROW((void)lira_scores(shadows, MatrixXd::Zero(1, 2), LiraOptions{}), InvalidArgument);
  EXPECT_THROW((void)rmia_scores(shadows, {0.0, true, 0.3}), InvalidArgument);
  EXPECT_THROW((void)rmia_scores(shadows, {2.0, false, 1.3}), InvalidArgument);
  ShadowScores everybody = shadows;
  everybody.member.col(1).setOnes();
  EXPECT_THROW((void)lira_scores(everybody, LiraOptions{}), InvalidArgument);
  EXPECT_THROW((void)rmia_scores(everybody), InvalidArgument);
  shadows.logits(1, 1) = NAN;
  EXPECT_THROW((void)lira_scores(shadows, LiraOptions{}), InvalidArgument);
}

}  // namespace
}  // namespace sfumato
