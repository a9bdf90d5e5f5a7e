#include "sfumato/reproduce/part.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "sfumato/core/error.hpp"

namespace sfumato {
namespace {

TEST(Verdict, ComesFromTheCasesConfirmed) {
  EXPECT_EQ(name(verdict_of(7, 7)), "holds");
  EXPECT_EQ(name(verdict_of(0, 7)), "does not hold");
  EXPECT_EQ(name(verdict_of(1, 7)), "depends");
  EXPECT_THROW((void)verdict_of(0, 0), InternalError);
  EXPECT_THROW((void)verdict_of(2, 1), InternalError);
}

TEST(ReproductionParts, HaveKeysOfTheirOwn) {
  std::set<std::string> keys;
  for (const Part& part : reproduction_parts()) {
    EXPECT_TRUE(keys.insert(part.key).second) << part.key;
    EXPECT_FALSE(part.title.empty()) << part.key;
  }
  EXPECT_TRUE(keys.contains("figure3"));
}

// docs/errata.md, 23: the statements hold for some differences only.
TEST(ReproduceFigure3, JudgesTheStatementsOfThePaper) {
  const PartResult result = reproduce_figure3(RunScale::quick);
  ASSERT_EQ(result.findings.size(), 3u);
  const auto expect = [&](std::size_t index, const char* extent, const std::string& evidence) {
    const Finding& finding = result.findings[index];
    EXPECT_EQ(finding.verdict, Verdict::depends) << finding.key;
    EXPECT_EQ(finding.extent, extent) << finding.key;
    EXPECT_NE(finding.evidence.find(evidence), std::string::npos) << finding.evidence;
  };
  expect(0, "5 of 7 differences", "No gain: gradient shift (1 -> 1), curvature (1 -> 1).");
  expect(1, "4 of 7 differences", "The gain grows: minimiser shift (3.025 -> 25.5), sharp shift");
  expect(1, "4 of 7 differences",
         "It does not: gradient shift (1 -> 1), flat shift (1.1 -> 1.01), curvature (1 -> 1).");
  expect(2, "6 of 7 differences", "does not follow the gradients: curvature (");
}

TEST(ReproduceFigure3, ScalesDifferInTheGridAlone) {
  const PartResult quick = reproduce_figure3(RunScale::quick);
  const PartResult paper = reproduce_figure3(RunScale::paper);
  EXPECT_EQ(quick.ours["grid_points_per_axis"], 50);
  EXPECT_EQ(paper.ours["grid_points_per_axis"], 99);
  EXPECT_EQ(quick.ours["condition_100"], paper.ours["condition_100"]);
}

}  // namespace
}  // namespace sfumato
