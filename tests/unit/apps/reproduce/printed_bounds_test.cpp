#include "reproduce/printed_bounds.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "sfumato/core/infinity.hpp"

namespace sfumato::apps {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

/// dX = -a X dt + s dW against dX = -a' X dt + s' dW, from one start of variance 1/2.
SdePair line(double a, double variance, double a_prime, double variance_prime) {
  const auto process = [](double curvature, double noise) {
    return OuProcess{MatrixXd::Constant(1, 1, curvature), VectorXd::Zero(1), Isotropic{noise, 1}};
  };
  const GaussianDistribution start{VectorXd::Zero(1), Isotropic{0.5, 1}};
  return linear_pair({process(a, variance), start, process(a_prime, variance_prime), start});
}

TEST(PrintedBounds, UnequalNoiseHasTheTheoremAndAProposition) {
  const std::vector<PrintedBound> bounds = printed_bounds(line(0.5, 0.75, 1.0, 1.0), 20.0);
  ASSERT_EQ(bounds.size(), 2U);
  EXPECT_EQ(bounds[0].formula, PrintedFormula::theorem);
  EXPECT_LT(bounds[0].kl.d.value, 1e-15);  // erratum 1
  EXPECT_FALSE(bounds[0].kl.d.valid);
  EXPECT_EQ(bounds[1].formula, PrintedFormula::uniform_proposition);
  EXPECT_TRUE(bounds[1].kl.d.valid);
}

TEST(PrintedBounds, WithEqualNoiseTheTheoremIsTheCorrectedOne) {
  const std::vector<PrintedBound> bounds = printed_bounds(line(0.5, 1.0, 1.0, 1.0), 1.0);
  ASSERT_EQ(bounds.size(), 1U);
  EXPECT_EQ(bounds[0].formula, PrintedFormula::uniform_proposition);
}

TEST(PrintedBounds, InTheLongRunThereIsTheSecondProposition) {
  const std::vector<PrintedBound> bounds = printed_bounds(line(0.5, 0.75, 1.0, 1.0), kInf);
  ASSERT_EQ(bounds.size(), 1U);
  EXPECT_EQ(bounds[0].formula, PrintedFormula::stationary_proposition);
}

TEST(PrintedBounds, Refusals) {
  EXPECT_THROW((void)printed_bounds(line(1.0, 1.0, 2.0, 1.0), -1.0), InvalidArgument);
  EXPECT_THROW((void)printed_bounds(line(1.0, 1.0, 2.0, 1.0), std::nan("")), InvalidArgument);
}

TEST(PrintedBounds, ATableOfBareNumbersWithAWordOnInvalidOnes) {
  BoundAnswer answer;
  answer.question.problem.pair = line(0.5, 0.75, 1.0, 1.0);
  for (const double time : {1.0, 20.0}) answer.at.emplace_back().time = time;
  Document document("bound", "T");
  add_printed_bounds(answer, document);
  ASSERT_EQ(document.blocks().size(), 2U);
  const auto& table = std::get<Table>(document.blocks()[0]);
  ASSERT_EQ(table.rows().size(), 4U);
  EXPECT_TRUE(std::holds_alternative<double>(table.rows()[0][2].content()));
  EXPECT_NE(std::get<Statement>(document.blocks()[1]).plain().find("INVALID"), std::string::npos);
}

}  // namespace
}  // namespace sfumato::apps
