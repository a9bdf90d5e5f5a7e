#include "sfumato/bound/bound_answer.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "sfumato/bound/bound_keys.hpp"
#include "sfumato/bound/bound_tables.hpp"
#include "sfumato/core/error.hpp"
#include "sfumato/core/infinity.hpp"

namespace sfumato {
namespace {

BoundQuestion question_of(const std::string& text) {
  return read_bound_question(TomlTable::parse(text, "problem.toml"), "problem.toml");
}

BoundAnswer answer_of(const std::string& text) {
  Observer observer;
  return answer(question_of(text), observer);
}

const std::string kFast = "estimate = {monte_carlo = false, fokker_planck = false}\n";
const std::string kShift = "[d]\nA = 1\nminimiser = [0]\nSigma = 1\n[d_prime]\nminimiser = [1]\n";

const PairBound& row(const BoundsAtTime& at, BoundMethod method) {
  const auto found = std::find_if(at.methods.begin(), at.methods.end(),
                                  [&](const PairBound& m) { return m.method == method; });
  if (found == at.methods.end()) throw InternalError("no row");
  return *found;
}

std::string refusal(const std::string& text) {
  try {
    (void)question_of(text);
  } catch (const InvalidArgument& error) {
    return error.what();
  }
  return "";
}

TEST(BoundAnswer, TheSharpCase) {
  const BoundAnswer found = answer_of("flow.times = [1, inf]\n" + kFast + kShift);
  ASSERT_EQ(found.at.size(), 2U);
  EXPECT_NEAR(row(found.at[0], BoundMethod::contractive).forward.kl.value.value(), std::tanh(0.5),
              1e-9);
  EXPECT_NEAR(found.at[1].exact->kl(Direction::forward).value.value(), 1.0, 1e-12);
  EXPECT_EQ(found.verdict, Verdict::none);
}

TEST(BoundAnswer, TwoCallablesAreEnough) {
  const auto drift = [](double shift) {
    return Diffusion{
        .dimension = 1,
        .drift = [shift](double, const ConstPoints& x, MutablePoints out) { out = shift - x; },
        .noise = Isotropic{1.0, 1}};
  };
  const GaussianDistribution start = point_distribution(Eigen::VectorXd::Zero(1));
  BoundQuestion question;
  question.problem.pair = {{drift(0.0), start}, {drift(1.0), start}};
  question.problem.pair.shares_noise = true;
  question.problem.times = {1.0};
  question.problem.plan.fokker_planck = false;
  question.problem.plan.paths = 50;
  AssumedConstants constants;
  constants.sensitivity = 1.0;
  constants.contraction = 1.0;
  assume(constants, question.problem);
  Observer observer;
  const BoundAnswer found = answer(question, observer);
  EXPECT_NEAR(found.at[0].proven->kl(Direction::forward).value.value(), std::tanh(0.5), 1e-9);
  EXPECT_NEAR(row(found.at[0], BoundMethod::path_simulated).forward.kl.value.value(), 0.5, 1e-9);
}

TEST(BoundAnswer, AGridThatRefutesAnAssumptionIsAVerdict) {
  const std::string wells =
      "flow.times = [1]\nestimate = {monte_carlo = false}\nassume.sensitivity = 0.01\n"
      "[d]\ndrift = \"x - x^3\"\nSigma = 1\nstart_covariance = 0.5\n"
      "[d_prime]\ndrift = \"x - x^3 + 2 tanh(x)\"\n";
  const BoundAnswer refuted = answer_of(wells);
  EXPECT_EQ(refuted.verdict, Verdict::violated);
  ASSERT_EQ(document_of(refuted, Detail::brief).verdicts().size(), 1U);
  const std::string enough = "assume.sensitivity = 1.5";
  std::string held = wells;
  held.replace(held.find("assume.sensitivity = 0.01"), 25, enough);
  EXPECT_EQ(answer_of(held).verdict, Verdict::not_refuted);
}

TEST(BoundAnswer, ATimeThatNothingReachesIsSaidInOneSentence) {
  const BoundAnswer found = answer_of(
      "flow.times = [inf]\n[d]\ndrift = [\"x - x^3 + 0.1 sin(y)\", \"-y + 0.1 sin(x)\"]\nSigma = "
      "1\n"
      "start_covariance = 1\n[d_prime]\ndrift = [\"x - x^3 + 0.1 sin(y) + 0.1\", \"-y + 0.1 "
      "sin(x)\"]\n");
  EXPECT_EQ(found.verdict, Verdict::open);
  const Document document = document_of(found, Detail::full);
  int sentences = 0;
  for (const Block& block : document.blocks()) {
    EXPECT_FALSE(std::holds_alternative<Table>(block));
    const auto* statement = std::get_if<Statement>(&block);
    if (statement == nullptr) continue;
    sentences += statement->plain().find("no method reaches t = inf") != std::string::npos;
    EXPECT_EQ(statement->plain().find("are estimates"), std::string::npos);
  }
  EXPECT_EQ(sentences, 1);
}

TEST(BoundTables, TheBestProvenBoundComesFirst) {
  const BoundAnswer found = answer_of("flow.times = [0.1, 1]\n" + kFast + kShift);
  const Table table = method_by_time_table(found);
  EXPECT_EQ(table.columns().size(), 3U);
  EXPECT_EQ(std::get<std::string>(table.rows()[0][0].content()), "best proven bound");
  EXPECT_NEAR(std::get<Claimed<double>>(table.rows()[0][2].content()).value, std::tanh(0.5), 1e-6);
}

TEST(BoundQuestion, MistypedKeysAreSuggestedFirst) {
  const std::string start = "flow.times = [1]\n[d]\nSigma = 1\n";
  EXPECT_NE(refusal(start + "potental = \"x^2\"\n[d_prime]\n").find("potential"),
            std::string::npos);
  EXPECT_NE(refusal(start + "[d_prime]\n").find("does not give the drift"), std::string::npos);
}

TEST(BoundQuestion, CoordinatesAreCountedInFormulas) {
  const auto dimension = [](const std::string& potential) {
    return question_of("flow.times = [1]\n[d]\npotential = \"" + potential +
                       "\"\nSigma = 1\n[d_prime]\n")
        .problem.dimension();
  };
  EXPECT_EQ(dimension("x^2"), 1);
  EXPECT_EQ(dimension("x^2 + y^2"), 2);
  EXPECT_EQ(dimension("x1^2 + 2 x2^2"), 2);
  EXPECT_EQ(dimension("x1^2 + x2^2 + x3^2 + x4^2 + exp(x5)"), 5);
  EXPECT_EQ(question_of("flow.times = [1]\n[d]\npotential = \"x1^2 + x3^2\"\nSigma = [1, 2, 3]\n"
                        "[d_prime]\npotential = \"x1^2\"\n")
                .problem.dimension(),
            3);
}

TEST(BoundQuestion, BadValuesAreRefusedAtTheirPlace) {
  const std::string good = "[d]\ndrift = \"-x\"\nSigma = 1\n[d_prime]\ndrift = \"1 - x\"\n";
  EXPECT_NE(refusal("flow.times = [1]\nestimate.step = 1e-9\n" + good).find("problem.toml:2:"),
            std::string::npos);
  EXPECT_NE(
      refusal("flow.times = [1]\nestimate.domain = [[0, 1], [0, 1]]\n" + good).find("toml:2:"),
      std::string::npos);
  BoundQuestion question = question_of("flow.times = [1]\n" + good);
  question.problem.times = {};
  Observer observer;
  EXPECT_THROW((void)answer(question, observer), InvalidArgument);
  question.problem.times = {kInf, 1.0, 0.5};
  question.problem.plan.monte_carlo = question.problem.plan.fokker_planck = false;
  EXPECT_EQ(answer(question, observer).at.front().time, 0.5);  // in order
}

}  // namespace
}  // namespace sfumato
