#include "reproduce/part.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "sfumato/core/error.hpp"

namespace sfumato::apps {
namespace {

TEST(PaperVerdict, ComesFromTheCasesConfirmed) {
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
  EXPECT_EQ(keys, (std::set<std::string>{"theorem", "figure1", "figure2", "figure3", "table2.s1",
                                         "table2.s2", "table2.s3", "table1", "membership",
                                         "unequal", "frontier", "works"}));
  for (const Part& part : reproduction_parts()) {
    const bool ours = part.key == "unequal" || part.key == "frontier" || part.key == "works";
    EXPECT_EQ(part.beyond, ours) << part.key;
  }
  EXPECT_TRUE(reproduction_parts()[4].is_called("table2"));
  EXPECT_FALSE(reproduction_parts()[4].is_called("table"));
}

std::string verdicts(const PartResult& result) {
  std::string text;
  for (const Finding& finding : result.findings) {
    text += finding.key + ": " + std::string(name(finding.verdict)) + "\n";
  }
  return text;
}

// Spec §13.1; docs/errata.md, 19, 21 and 22.
TEST(ReproduceFigure1, JudgesTheStatementsOfThePaper) {
  const PartResult result = reproduce_figure1(RunScale::quick);
  EXPECT_EQ(verdicts(result),
            "anisotropic_saves_accuracy: holds\n"
            "equal_settings: does not hold\n"
            "same_privacy: depends\n"
            "almost_no_loss: does not hold\n"
            "absolute_values_bound: depends\n");
  EXPECT_NE(
      result.findings[1].evidence.find("privacy cost 17.36 against 12.5, trace 25 against 32"),
      std::string::npos);
  EXPECT_NE(result.findings[2].evidence.find("read as variances: privacy cost 26 against 25.33"),
            std::string::npos);
  EXPECT_NE(result.findings[4].evidence.find("cost 3.8, with |s| only 0.2"), std::string::npos);
  EXPECT_EQ(result.ours["grid_points_per_axis"], 46);
  EXPECT_EQ(reproduce_figure1(RunScale::paper).ours["grid_points_per_axis"], 91);
}

// Spec §13.2; docs/errata.md, 20.
TEST(ReproduceFigure2, JudgesTheStatementsOfThePaper) {
  EXPECT_EQ(verdicts(reproduce_figure2(RunScale::quick)),
            "unequal_noise_is_better: holds\n"
            "equal_noise_is_best: holds\n"
            "trace_is_error: does not hold\n");
}

// docs/errata.md, 23: the statements hold for some differences only.
TEST(ReproduceFigure3, JudgesTheStatementsOfThePaper) {
  const PartResult result = reproduce_figure3(RunScale::quick);
  ASSERT_EQ(result.findings.size(), 3u);
  const auto expect = [&](std::size_t index, const char* extent, const std::string& evidence) {
    const Finding& finding = result.findings[index];
    EXPECT_EQ(finding.verdict, PaperVerdict::depends) << finding.key;
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
}  // namespace sfumato::apps
