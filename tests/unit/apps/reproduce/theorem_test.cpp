// The numbers of docs/errata.md, as the theorem part shows them.
#include "reproduce/theorem.hpp"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "reproduce/part.hpp"

namespace sfumato::apps {
namespace {

TEST(PrintedCases, HoldTheNumbersOfTheErrata) {
  const struct {
    const char* setting;  ///< start of it
    double truth, printed, corrected;
  } rows[] = {{"rates 0.5, 1; Sigma 0.75, 1; from N(0, 0.5); t = 20", 0.0472674, 0, 0.614583},
              {"Sigma(x) = 1 + 0.5/(1 + x^2) against 1; t = 5", 0.0196382, 0, 0.160898},
              {"sigma = 3, Delta = 100", 1111.11, 440.41, 1111.11},
              {"d = 3000", 460.28, 432.0, 750.0},
              {"x_0 = 100", 1317.4, 432.0, 1344.8},
              {"kappa = sigma = 1, Delta = 10", 100, 51.5, 100},
              {"kappa = tr Sigma = t = 1, |x_0 - x*| = 10", 6.983, 0.385, 6.983},
              {"delta at eps = 1, N(0, 1) against N(1, 1)", 0.1269, 0.8825, 0.1269},
              {"A = diag(10, 1)", 0.44342, 0.30808, 0.44342}};
  const std::vector<PrintedCase> cases = printed_cases();
  for (const auto& row : rows) {
    std::size_t found = 0;
    for (const PrintedCase& c : cases) {
      if (!c.setting.starts_with(row.setting)) continue;
      ++found;
      EXPECT_NEAR(c.truth.value, row.truth, 5e-4 * row.truth) << c.setting;
      EXPECT_NEAR(c.printed, row.printed, 1e-3 * row.printed) << c.setting;
      ASSERT_TRUE(c.corrected) << c.setting;
      EXPECT_NEAR(c.corrected->value, row.corrected, 5e-4 * row.corrected) << c.setting;
      EXPECT_EQ(c.holds, row.printed >= row.truth) << c.setting;
    }
    EXPECT_EQ(found, 1u) << row.setting;
  }
}

TEST(PrintedCases, CorrectedBoundsAreNeverBelowTheTruth) {
  std::set<std::string> formulas;
  for (const PrintedCase& c : printed_cases()) {
    formulas.insert(c.formula);
    if (!c.corrected) continue;
    EXPECT_GE(c.corrected->value, c.truth.value * (1.0 - 1e-9)) << c.setting;
  }
  EXPECT_EQ(formulas.size(), 11u);
}

TEST(PropositionRatios, AreAsThePaperStates) {
  for (const PropositionRatio& r : proposition_ratios()) {
    EXPECT_NEAR(r.computed / r.stated, 1.0, 1e-6) << r.start_constant;
  }
}

TEST(CountViolations, FindsNoneWithTheFactorsPutBack) {
  const RandomPairCount count = count_violations(400, 1);
  EXPECT_EQ(count.pairs, 400u);
  EXPECT_GT(count.printed_violated, 0u);
  EXPECT_GT(count.worst_printed, 1.0);
  EXPECT_EQ(count.primal_violated, 0u);
  EXPECT_EQ(count.dual_violated, 0u);
}

TEST(ReproduceTheorem, JudgesTheStatementsOfThePaper) {
  std::map<std::string, std::string> verdicts;
  for (const Finding& finding : reproduce_theorem(RunScale::quick).findings) {
    verdicts[finding.key] = name(finding.verdict);
  }
  EXPECT_EQ(verdicts, (std::map<std::string, std::string>{{"main_theorem", "depends"},
                                                          {"noise_norm_bound", "depends"},
                                                          {"first_proposition", "does not hold"},
                                                          {"second_proposition", "does not hold"},
                                                          {"log_sobolev_constant", "depends"},
                                                          {"invariant_law", "does not hold"},
                                                          {"convergence_lemma", "depends"},
                                                          {"quadratic_covariance", "does not hold"},
                                                          {"error_lemma", "does not hold"},
                                                          {"concentration_corollary", "holds"},
                                                          {"advantage_bound", "holds"},
                                                          {"proposition_ratio", "holds"}}));
}

}  // namespace
}  // namespace sfumato::apps
