#include "sfumato/answers/audit/sandwich.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace sfumato::cli {
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

std::vector<std::string> texts(const Document& document, StatementKind kind) {
  std::vector<std::string> found;
  for (const Block& block : document.blocks()) {
    const auto* statement = std::get_if<Statement>(&block);
    if (statement != nullptr && statement->kind == kind) found.push_back(statement->text);
  }
  return found;
}

AuditCommand command() {
  AuditCommand asked;
  asked.deltas = {1e-3};
  asked.epsilons = {0.5};
  return asked;
}

TEST(Sandwich, ALowerBoundAboveAProvenOneIsAViolation) {
  Document document("audit", "t");
  EXPECT_TRUE(add_sandwich(document, {{"p", audit_of(true), proven(0.1), {}, "none"}}, command()));
  const auto verdicts = texts(document, StatementKind::verdict);
  ASSERT_EQ(verdicts.size(), 3U);  // epsilon, delta and mu
  EXPECT_NE(verdicts.front().find("VIOLATION in p"), std::string::npos);
  EXPECT_NE(verdicts.front().find("95 %"), std::string::npos);
}

TEST(Sandwich, BelowItThereIsNone) {
  Document document("audit", "t");
  EXPECT_FALSE(add_sandwich(document, {{"p", audit_of(true), proven(9.0), {}, "none"}}, command()));
  EXPECT_FALSE(add_sandwich(document = Document("audit", "t"),
                            {{"p", audit_of(false), proven(0.0), {}, "none"}}, command()));
  EXPECT_TRUE(texts(document, StatementKind::verdict).empty());
}

TEST(Sandwich, AboveTheOdometerIsAWarningAndNoViolation) {
  Document document("audit", "t");
  const OdometerRisk odometer({OdometerRuns{{{1e-4, 1e-4}, {1e-4, 1e-4}}}});
  EXPECT_FALSE(add_sandwich(document, {{"p", audit_of(true), ProvenBounds("a network"), odometer}},
                            command()));
  const auto warnings = texts(document, StatementKind::warning);
  ASSERT_FALSE(warnings.empty());
  EXPECT_NE(warnings.front().find("above the odometer"), std::string::npos);
  EXPECT_TRUE(texts(document, StatementKind::verdict).empty());
}

}  // namespace
}  // namespace sfumato::cli
