#include "sfumato/lab/audit/two_sided.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace sfumato::lab {
namespace {

/// An audit of models that a score tells apart without error, or not at all.
Audit audit_of(bool apart) {
  ScoreSample sample;
  for (int i = 0; i < 200; ++i) {
    sample.with.push_back((apart ? 1000.0 : 0.0) + i);
    sample.without.push_back(i);
  }
  return audit_scores(sample, AuditOptions{});
}

ProvenBounds proven(double mu) {
  const Claimed<double> bound{mu, Claim::upper_bound, "by assumption"};
  return ProvenBounds(std::vector<ProvenRisk>{{Risk::from_gdp(bound), bound, ""}});
}

const PathKl kNoPathKl{{}, "none"};

std::vector<TwoSided> sides(const Audit& audit, const ProvenBounds& bounds,
                            const PathKl& path_kl = kNoPathKl) {
  return two_sided(audit, bounds, path_kl, std::vector{1e-3, 1e-5}, std::vector{0.5});
}

TEST(TwoSided, HasEveryQuantityThatWasAskedFor) {
  const std::vector<TwoSided> all = sides(audit_of(true), ProvenBounds("a network"));
  ASSERT_EQ(all.size(), 4U);
  EXPECT_EQ(all[0].quantity, AuditedQuantity::epsilon);
  EXPECT_EQ(all[1].at, 1e-5);
  EXPECT_EQ(all[2].quantity, AuditedQuantity::delta);
  EXPECT_EQ(all[3].quantity, AuditedQuantity::mu);
  EXPECT_EQ(all[0].no_proof, "a network");
  EXPECT_EQ(all[0].no_path_kl, "none");
  EXPECT_EQ(all[3].no_path_kl, "a KL gives no mu");
  EXPECT_EQ(all[0].shown.value, audit_of(true).epsilon(Delta(1e-3)).value.nats());
  EXPECT_EQ(all[0].maximum, audit_of(true).maximum_epsilon(Delta(1e-3)));
  EXPECT_FALSE(all[2].maximum);
  EXPECT_FALSE(all[0].proven || all[0].path_kl || all[0].contradicts_proof());
}

TEST(TwoSided, ALowerBoundAboveAProvenOneContradictsIt) {
  for (const TwoSided& quantity : sides(audit_of(true), proven(0.1))) {
    EXPECT_TRUE(quantity.contradicts_proof());
    EXPECT_LT(quantity.proven->value, quantity.shown.value);
  }
}

TEST(TwoSided, BelowItDoesNot) {
  for (const auto& [apart, mu] : {std::pair(true, 9.0), std::pair(false, 0.0)}) {
    for (const TwoSided& quantity : sides(audit_of(apart), proven(mu))) {
      EXPECT_FALSE(quantity.contradicts_proof());
    }
  }
}

TEST(TwoSided, RoundingIsNoContradiction) {
  TwoSided quantity{AuditedQuantity::mu, 0.0, Claimed<double>{1.0}, "", {}, "", {1.0 + 1e-12}, {}};
  EXPECT_FALSE(quantity.contradicts_proof());
  quantity.shown.value = 1.0 + 1e-8;
  EXPECT_TRUE(quantity.contradicts_proof());
}

TEST(TwoSided, AboveThePathKlIsNoContradiction) {
  const PathKl path_kl{PathKlRisk({PathKlRuns{{{1e-4, 1e-4}, {1e-4, 1e-4}}}}), ""};
  const std::vector<TwoSided> all = sides(audit_of(true), ProvenBounds("a network"), path_kl);
  EXPECT_TRUE(all.front().above_path_kl());
  EXPECT_FALSE(all.front().contradicts_proof());
}

}  // namespace
}  // namespace sfumato::lab
