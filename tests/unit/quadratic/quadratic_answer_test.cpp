#include "sfumato/quadratic/quadratic_answer.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "sfumato/core/error.hpp"
#include "sfumato/core/infinity.hpp"
#include "sfumato/quadratic/quadratic_keys.hpp"

namespace sfumato {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

/// dX = -(X - x*) dt + dW from 0; the minimisers are `gap` apart.
QuadraticQuestion shift(double gap) {
  const auto training = [](double point) {
    return QuadraticTraining{
        quadratic_from_point(MatrixXd::Identity(1, 1), VectorXd::Constant(1, point)),
        Isotropic{1.0, 1}, point_distribution(VectorXd::Zero(1))};
  };
  return {{training(0.0), training(gap)}, QuadraticFlow{{1.0, kInf}}};
}

TEST(QuadraticAnswer, AQuestionFilledInByHandIsAnswered) {
  Observer observer;
  const QuadraticAnswer found = answer(shift(1.0), observer);
  ASSERT_EQ(found.observations.size(), 2U);
  // Spec §6.3: gap^2 tanh(t / 2).
  EXPECT_NEAR(found.observations[0].risk->kl(Direction::forward).value.value(), std::tanh(0.5),
              1e-12);
  EXPECT_NEAR(found.observations[1].risk->kl(Direction::reverse).value.value(), 1.0, 1e-12);
  EXPECT_NEAR(found.observations[1].mu->value, std::sqrt(2.0), 1e-12);
  EXPECT_NEAR(found.observations[1].accuracy.d.excess_loss.value->value, 0.25, 1e-12);
  EXPECT_TRUE(found.differences.location);
  EXPECT_FALSE(found.differences.curvature);
  EXPECT_EQ(found.curve.size(), 33U);
  EXPECT_FALSE(found.stopped);
}

TEST(QuadraticAnswer, AChainHasBoundsAboveItsKl) {
  QuadraticQuestion question = shift(1.0);
  question.output = QuadraticChain{0.1, {1.0, 20.0}};
  Observer observer;
  const QuadraticAnswer found = answer(question, observer);
  ASSERT_EQ(found.chain_bounds.size(), 2U);
  for (std::size_t i = 0; i < 2; ++i) {
    const double kl = found.observations[i].risk->kl(Direction::forward).value.value();
    EXPECT_GE(found.chain_bounds[i][0].contractive.kl.value.value(), kl * (1.0 - 1e-12));
    EXPECT_GE(found.chain_bounds[i][1].path.kl.value.value(), kl * (1.0 - 1e-12));
    EXPECT_NEAR(*found.chain_bounds[i][0].lipschitz.value, 0.9, 1e-12);
  }
}

TEST(QuadraticAnswer, BadValuesNameTheirKey) {
  Observer observer;
  const auto key_of = [&](const QuadraticQuestion& question) -> std::string {
    try {
      (void)answer(question, observer);
    } catch (const InvalidArgument& error) {
      return error.where().is_key() ? error.where().text() : "no key";
    }
    return "nothing";
  };
  QuadraticQuestion question = shift(1.0);
  question.output = QuadraticFlow{{}};
  EXPECT_EQ(key_of(question), "times");
  question.output = QuadraticFlow{{-1.0}};
  EXPECT_EQ(key_of(question), "times");
  question.output = QuadraticChain{0.1, {1.5}};
  EXPECT_EQ(key_of(question), "steps");
  question.output = QuadraticChain{0.0, {1.0}};
  EXPECT_EQ(key_of(question), "learning_rate");
  question = shift(1.0);
  question.risk.deltas = {2.0};
  EXPECT_EQ(key_of(question), "delta");
}

TEST(QuadraticQuestion, OptionsTakeThePlaceOfTheFile) {
  const char* file =
      "flow.times = [1, 2]\nrisk.deltas = [1e-3]\n[d]\nA = 2\nminimiser = 0\nSigma = 1\n"
      "[d_prime]\nminimiser = 1\n";
  const TomlTable table =
      TomlTable::parse(file, "p.toml",
                       {{{"flow", "times"}, "[5]", "--times"},
                        {{"d", "Sigma"}, "3", "--set d.Sigma=3"},
                        {{"risk", "delta"}, "[1e-6]", "--delta", {"name"}, {"delta", "deltas"}}});
  const QuadraticQuestion question = read_quadratic_question(table, "p.toml");
  EXPECT_EQ(question.looks(), std::vector<double>{5.0});
  EXPECT_EQ(question.risk.deltas, std::vector<double>{1e-6});
  EXPECT_EQ(trace(question.data.d_prime.noise), 3.0);
  EXPECT_EQ(question.title, "");
}

TEST(QuadraticDocument, BriefIsShortAndBothHaveTheSameResults) {
  Observer observer;
  const QuadraticAnswer found = answer(shift(1.0), observer);
  const Document brief = document_of(found, Detail::brief);
  const Document full = document_of(found, Detail::full);
  EXPECT_LT(brief.blocks().size(), 7U);
  EXPECT_GT(full.blocks().size(), 12U);
  ASSERT_EQ(brief.results().size(), full.results().size());
  EXPECT_EQ(brief.results().front().quantity, "kl_forward");
}

}  // namespace
}  // namespace sfumato
