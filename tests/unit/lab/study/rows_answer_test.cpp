#include "sfumato/rows/rows_answer.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <mutex>
#include <set>

#include "lab/study/convex_problem.hpp"
#include "lab/study/spec/study.hpp"
#include "sfumato/core/error.hpp"
#include "sfumato/report/text.hpp"
#include "sfumato/rows/row_views.hpp"
#include "sfumato/rows/rows_fields.hpp"
#include "sfumato/rows/rows_keys.hpp"
#include "support/temp_dir.hpp"

namespace sfumato::lab {
namespace {

class Rows : public testing::Test {
 protected:
  Rows() {
    put(table, "who,x,y\nAda,1,0\nBo,2,1\nCem,3,0\nDee,-1,1\nEve,0,1\n");
    question.table = table;
    question.target = "y";
    question.id = "who";
    question.ridge = 1.0;
    question.noise = 0.5;
    question.training = RowsTraining::flow;
  }
  [[nodiscard]] RowsAnswer ask() {
    Observer observer;
    return answer(question, observer);
  }
  /// What is refused is the value of that key.
  void refused(const std::string& key, const std::string& words) {
    try {
      (void)ask();
      FAIL() << key;
    } catch (const InvalidArgument& error) {
      EXPECT_TRUE(error.where().is_key()) << error.what();
      EXPECT_EQ(error.where().text(), key) << error.what();
      EXPECT_NE(std::string(error.what()).find(words), std::string::npos) << error.what();
    }
  }
  TempDir dir;
  std::string table = dir / "t.csv";
  RowsQuestion question;
};

TEST_F(Rows, ThePageOfSeveralNoisesComparesThem) {
  question.noises = {0.001, 0.01, 1e4};
  question.training = {};
  const RowsAnswer found = ask();
  ASSERT_EQ(found.sweep.size(), 3U);
  ASSERT_GT(found.sweep[1].advantage.value, 0.1);
  ASSERT_LE(found.sweep[2].advantage.value, 0.1);
  const Document page = document_of(found, Detail::full);
  ASSERT_TRUE(page.abstract());
  const Abstract& top = *page.abstract();
  for (const char* part : {"at noise 0.001 and ", "at noise 10000."}) {
    EXPECT_NE(top.answer.plain().find(part), std::string::npos) << top.answer.plain();
  }
  // The noise that hides everybody leaves no model, and the page says so.
  EXPECT_NE(
      top.advice.plain().find("With noise 10000 the model predicts no better than a constant"),
      std::string::npos)
      << top.advice.plain();
  EXPECT_NE(top.cost.plain().find("without noise"), std::string::npos) << top.cost.plain();
  question.noises = {0.001, 0.01};
  EXPECT_TRUE(document_of(ask(), Detail::full)
                  .abstract()
                  ->advice.plain()
                  .starts_with("No limit was asked"));
}

TEST_F(Rows, ThePageJudgesByWhatWasAskedForAndNeverAdvisesToDropRows) {
  question.training = {};
  question.noise = 0.01;
  const auto advice = [&] {
    const RowsAnswer found = ask();
    for (const Detail detail : {Detail::brief, Detail::full}) {
      const std::string text = render_text(document_of(found, detail), {80, false});
      for (const char* words : {"leave", "drop", "rows out"}) {
        EXPECT_EQ(text.find(words), std::string::npos) << text;
      }
    }
    const std::string words = document_of(found, Detail::full).abstract()->advice.plain();
    for (const char* part : {"leave", "drop", "remove", "0.1:"}) {
      EXPECT_EQ(words.find(part), std::string::npos) << words;
    }
    return words;
  };
  ASSERT_GT(riskiest(ask().risks, 1).front()->advantage.value, 0.1);
  EXPECT_TRUE(advice().starts_with("No limit was asked for, and none is universal.")) << advice();
  question.max_advantage = 0.2;
  EXPECT_NE(advice().find("above the advantage of 0.2 that was asked for"), std::string::npos);
  question.max_advantage = 1.0;
  EXPECT_EQ(advice(), "Every row is within the advantage of 1 that was asked for.");
  question.max_advantage = {};
  question.noise = 0.0;
  question.goal = RowsGoal{RowsGoal::Measure::epsilon, 5.0};
  const RowsAnswer found = ask();
  ASSERT_TRUE(found.search->reached);
  // The worst row is above the 0.1 that nobody asked for.
  ASSERT_GT(riskiest(found.risks, 1).front()->advantage.value, 0.1);
  EXPECT_EQ(advice(), "Every row is within eps = 5, which was asked for.");
}

TEST_F(Rows, ThePageNeverCallsRowsSafeThatHaveNoNumber) {
  put(table, "who,x,z,y\nAda,1,0,0\nBo,2,0,1\nCem,3,0,0\nDee,-1,1,1\nEve,0,0,1\n");
  question.ridge = 0.0;  // z is determined by Dee alone
  question.noise = 1e9;
  question.training = {};
  const RowsAnswer found = ask();
  ASSERT_EQ(found.risks[3].status, RowStatus::no_model);
  const Abstract top = *document_of(found, Detail::full).abstract();
  EXPECT_TRUE(top.answer.plain().starts_with("1 row is revealed outright")) << top.answer.plain();
  EXPECT_TRUE(
      top.advice.plain().starts_with("1 row is revealed outright, whatever the noise: add a ridge"))
      << top.advice.plain();
  question.noises = {1e8, 1e9};
  EXPECT_EQ(document_of(ask(), Detail::full).abstract()->advice.plain(), top.advice.plain());
}

TEST_F(Rows, ThePageOfBoundsSaysMay) {
  question.model = RowsModel::logistic;
  question.training = {};
  question.noise = 1e-3;
  question.max_advantage = 0.1;
  const Abstract top = *document_of(ask(), Detail::full).abstract();
  EXPECT_NE(top.answer.plain().find(") may be the most exposed"), std::string::npos)
      << top.answer.plain();
  EXPECT_NE(top.advice.plain().find(" may be above"), std::string::npos) << top.advice.plain();
}

TEST_F(Rows, RidgeIsExactAndRanked) {
  const RowsAnswer found = ask();
  ASSERT_EQ(found.risks.size(), 5U);
  EXPECT_EQ(found.parameters, (std::vector<std::string>{"x", "(intercept)"}));
  EXPECT_EQ(found.ids[2], "Cem");
  EXPECT_EQ(found.verdict, Verdict::none);
  EXPECT_FALSE(found.stopped);
  EXPECT_EQ(found.norms.size(), 0);
  for (const RowRisk& risk : found.risks) {
    EXPECT_EQ(risk.status, RowStatus::ok);
    EXPECT_EQ(risk.advantage.claim, Claim::exact);
    EXPECT_GT(risk.leverage.value, 0.0);
  }
  const std::vector<const RowRisk*> order = riskiest(found.risks, 9);
  ASSERT_EQ(order.size(), 5U);
  for (std::size_t i = 1; i < order.size(); ++i) {
    EXPECT_GE(order[i - 1]->advantage.value, order[i]->advantage.value);
  }
}

TEST_F(Rows, LogisticIsBoundedAndChecked) {
  question.model = RowsModel::logistic;
  question.time = 0.5;
  question.check = 2;
  const RowsAnswer found = ask();
  EXPECT_EQ(found.checks.size(), 2U);
  EXPECT_EQ(found.norms(0), std::sqrt(2.0));
  for (const RowRisk& risk : found.risks) EXPECT_EQ(risk.advantage.claim, Claim::upper_bound);
  for (const CheckedRow& checked : found.checks) EXPECT_EQ(checked.verdict(), Verdict::not_refuted);
  EXPECT_EQ(found.verdict, Verdict::none);
}

TEST(RowsCheck, AnEstimateFarAboveItsBoundRefutesIt) {
  CheckedRow row;
  row.risk.forward.kl = {0.1, Claim::upper_bound};
  row.risk.reverse.kl = {0.1, Claim::upper_bound};
  row.check.paths = 10;
  row.check.forward = {0.13, 0.01};
  row.check.reverse = {0.05, 0.01};
  EXPECT_EQ(row.verdict(), Verdict::not_refuted);
  row.check.forward = {0.15, 0.01};
  EXPECT_EQ(row.verdict(), Verdict::violated);
  row.check.stationary = true;
  EXPECT_EQ(row.verdict(), Verdict::open);
  row.check.paths = 0;
  EXPECT_EQ(row.verdict(), Verdict::open);
}

TEST_F(Rows, BriefFitsAScreenAndFullHasEverything) {
  const RowsAnswer found = ask();
  const std::string brief = render_text(document_of(found, Detail::brief), {80, false});
  EXPECT_LE(std::count(brief.begin(), brief.end(), '\n'), 29) << brief;
  EXPECT_NE(brief.find("the most exposed of 5 rows"), std::string::npos) << brief;
  EXPECT_NE(brief.find("median"), std::string::npos) << brief;
  EXPECT_EQ(brief.find("D||D'"), std::string::npos) << brief;
  EXPECT_NE(brief.find(found.ids[static_cast<std::size_t>(riskiest(found.risks, 1)[0]->row)]),
            std::string::npos);
  const Document full = document_of(found, Detail::full);
  const std::string text = render_text(full, {80, false});
  for (const char* words : {"eps(1e-5) D'||D", "50 % (median)", "Membership advantage"}) {
    EXPECT_NE(text.find(words), std::string::npos) << words;
  }
  // Five rows and the median, of four numbers.
  EXPECT_EQ(full.results().size(), 24U + 4U);  // and what it costs
  EXPECT_EQ(full.results().front().quantity, "advantage");
}

TEST_F(Rows, CsvHasAllRowsUnderTheirNames) {
  write_csv(dir / "o.csv", ask());
  const std::string text = get(dir / "o.csv");
  EXPECT_TRUE(text.starts_with("row,id,line,status,leverage,advantage,kl_forward")) << text;
  EXPECT_NE(text.find("\n5,Eve,6,ok,"), std::string::npos) << text;
}

// A mean divides by the N of D on both sides, whoever asks: the study's step of noise v at rate eta is noise v/eta per
// unit of time here.
TEST_F(Rows, TheMeanOfAStudyIsTheMeanHere) {
  put(table, "x,y\n1,0\n2,1\n3,0\n-1,1\n0,1\n");
  question.id.clear();
  question.loss = LossScale::mean;
  question.ridge = 0.2;
  question.training.reset();
  question.learning_rate = 0.1;
  question.steps = 20.0;
  question.noise = 0.3 / 0.1;
  question.check = std::nullopt;
  for (const RowsModel model : {RowsModel::ridge, RowsModel::logistic}) {
    question.model = model;
    if (model == RowsModel::logistic) question.check = 0;
    const RowsAnswer found = ask();
    for (const int record : {1, 3}) {
      const ConvexProblem problem(parse_study(
          fmt::format(
              "[data]\ntable = '{}'\ntarget = 'y'\n[adjacency]\nrecord = {}\n[model]\nkind = '{}'\n"
              "ridge = 0.2\n[train]\nloss = 'mean'\nsteps = 20\nlearning_rate = 0.1\n[[noise]]\n"
              "policy = 'isotropic'\nvariance = 0.3\n[audit]\nreplicas = 2\n",
              table, record, name(model)),
          "s.toml"));
      const ProvenRisk proven = proven_risk(problem.pair(0), problem.step_noises()[0], 20);
      ASSERT_TRUE(proven.risk) << proven.reason;
      const RowRisk& risk = found.risks[static_cast<std::size_t>(record - 1)];
      const double kl = proven.risk->kl(Direction::forward).value.value();
      EXPECT_NEAR(risk.forward.kl.value / kl, 1.0, 1e-9) << name(model) << " " << record;
    }
  }
}

TEST_F(Rows, StopsWhenItIsAsked) {
  class Stopped : public Observer {
   public:
    [[nodiscard]] bool stop_requested() const override { return true; }
  } observer;
  const RowsAnswer found = answer(question, observer);
  EXPECT_TRUE(found.stopped);
  EXPECT_EQ(found.risks[4].status, RowStatus::not_computed);
  (void)document_of(found, Detail::brief);
  (void)document_of(found, Detail::full);
}

TEST_F(Rows, RefusalsNameTheKey) {
  question.table.clear();
  refused("table", "no table");
  question.table = table;
  question.target.clear();
  refused("target", "no column");
  question.target = "y";
  question.noise = -1.0;
  refused("noise", "-1");
  question.noise = 1.0;
  question.delta = 1.0;
  refused("delta", "1");
  question.delta = 1e-5;
  question.epsilons = {1.0, -1.0};
  refused("epsilons", "-1");
  question.epsilons = {1.0};
  question.separator = ";;";
  refused("separator", ";;");
  question.separator = ",";
  question.decimal = "x";
  refused("decimal", "x");
}

TEST_F(Rows, TheMinimiserIsReleasedUnlessATrainingIsNamed) {
  question.training.reset();
  EXPECT_TRUE(std::holds_alternative<MinimiserRelease>(ask().release));
  question.time = 1.0;
  EXPECT_TRUE(std::holds_alternative<FlowRelease>(ask().release));
  question.time.reset();
  question.learning_rate = 0.01;
  question.steps = 3.0;
  EXPECT_TRUE(std::holds_alternative<ChainRelease>(ask().release));
}

TEST_F(Rows, WhatTheNoiseCosts) {
  question.training.reset();
  const auto cost = std::get<Cost<RegressionQuality>>(ask().cost.value());
  // x and ones, N(0, 0.5) on both weights: the mean squared error grows by 0.5 (mean x^2 + 1).
  EXPECT_NEAR(std::pow(cost.expected.rmse, 2) - std::pow(cost.without_noise.rmse, 2),
              0.5 * (15.0 / 5.0 + 1.0), 1e-12);
  question.model = RowsModel::logistic;
  const auto labels = std::get<LabelCost>(ask().cost.value());
  EXPECT_EQ(labels.majority, 0.6);
  EXPECT_GT(labels.expected.log_loss, labels.without_noise.log_loss);
}

TEST_F(Rows, SeveralNoisesAreCompared) {
  question.noises = {0.5, 5.0};
  const RowsAnswer found = ask();
  ASSERT_EQ(found.sweep.size(), 2U);
  question.noises.clear();
  const RowsAnswer one = ask();
  EXPECT_EQ(found.sweep[0].advantage.value, riskiest(one.risks, 1)[0]->advantage.value);
  EXPECT_LT(found.sweep[1].advantage.value, found.sweep[0].advantage.value);
  ASSERT_TRUE(found.floor);
  EXPECT_GT(found.floor->advantage.value, 0.0);
  EXPECT_LT(found.floor->advantage.value, found.sweep[1].advantage.value);
  question.noise = 1e20;  // nothing but the floor is left
  EXPECT_NEAR(riskiest(ask().risks, 1)[0]->advantage.value, found.floor->advantage.value, 1e-9);
  question.noises = {0.5, 5.0};
  question.training.reset();
  EXPECT_EQ(ask().floor->epsilon.value, 0.0);
  const std::string text = render_text(document_of(ask(), Detail::brief), {80, false});
  EXPECT_NE(text.find("unlimited"), std::string::npos) << text;
  question.max_advantage = 0.1;
  refused("max_advantage", "one noise");
}

TEST_F(Rows, TheNoiseForAGoalIsFound) {
  question.noise = 0.0;
  for (const bool trained : {false, true}) {
    question.training.reset();
    if (trained) question.training = RowsTraining::flow;
    for (const RowsGoal goal : {RowsGoal{RowsGoal::Measure::advantage, 0.3},
                                RowsGoal{RowsGoal::Measure::epsilon, 20.0}}) {
      question.goal = goal;
      question.noise = 0.0;
      const RowsAnswer found = ask();
      ASSERT_TRUE(found.search && found.search->reached) << words_of(goal);
      EXPECT_EQ(found.verdict, Verdict::holds);
      const auto worst = [&](double noise) {
        question.goal.reset();
        question.noise = noise;
        double most = 0.0;
        for (const RowRisk& risk : ask().risks) {
          most = std::max(most, goal.measure == RowsGoal::Measure::advantage
                                    ? risk.advantage.value
                                    : larger(risk.forward.epsilon, risk.reverse.epsilon).value);
        }
        return most;
      };
      EXPECT_LE(worst(found.search->noise), goal.most);
      EXPECT_GT(worst(0.999 * found.search->noise), goal.most);
    }
  }
}

TEST_F(Rows, NoisesAreComparedUnderTheirOwnNames) {
  struct Stages final : Observer {
    void progress(std::string_view stage, std::uint64_t, std::uint64_t) override {
      const std::lock_guard lock(mutex);
      names.insert(std::string(stage));
    }
    std::mutex mutex;
    std::set<std::string> names;
  } observer;
  question.noises = {0.5, 5.0};
  (void)answer(question, observer);
  for (const char* stage : {"rows at noise 0.5", "rows at noise 5", "rows at unlimited noise"}) {
    EXPECT_TRUE(observer.names.contains(stage)) << stage;
  }
}

TEST_F(Rows, AGoalBelowTheFloorIsOutOfReach) {
  question.noise = 0.0;
  question.goal = RowsGoal{RowsGoal::Measure::epsilon, 0.01};
  const RowsAnswer found = ask();
  ASSERT_TRUE(found.search && found.floor);
  EXPECT_FALSE(found.search->reached);
  EXPECT_NE(found.search->reason.find("floor"), std::string::npos) << found.search->reason;
  EXPECT_GT(found.floor->epsilon.value, 0.01);
  EXPECT_EQ(found.verdict, Verdict::violated);
  EXPECT_FALSE(found.cost);
  question.goal = RowsGoal{RowsGoal::Measure::advantage, 1.0};
  refused("goal", "out of range");
}

TEST_F(Rows, AGateListsTheRowsAboveIt) {
  question.max_advantage = 1.0;
  EXPECT_EQ(ask().verdict, Verdict::holds);
  question.max_advantage = 0.0;
  const RowsAnswer found = ask();
  EXPECT_EQ(found.verdict, Verdict::violated);
  EXPECT_EQ(found.above.size(), 5U);
  const std::string text = render_text(document_of(found, Detail::brief), {80, false});
  EXPECT_NE(text.find("FAIL: 5 of 5 rows are above an advantage of 0"), std::string::npos) << text;
  question.model = RowsModel::logistic;
  question.check = 0;
  EXPECT_EQ(ask().verdict, Verdict::open);  // bounds above it show nothing
}

TEST_F(Rows, NumbersBelowTheRangeOfDoublesAreBounds) {
  question.training.reset();
  question.noise = 1e6;
  const RowsAnswer found = ask();
  const std::string text = render_text(document_of(found, Detail::brief), {80, false});
  EXPECT_NE(text.find("<= 1.000e-300"), std::string::npos) << text;
  write_csv(dir / "o.csv", found);
  const std::string csv = get(dir / "o.csv");
  EXPECT_NE(csv.find(",1e-300,"), std::string::npos) << csv;
  EXPECT_NE(csv.find(",exact,delta_forward_at_1 delta_reverse_at_1\n"), std::string::npos) << csv;
}

TEST_F(Rows, NoisesAndGoalsAsKeys) {
  const auto read = [](const std::string& text) {
    RowsQuestion made;
    read_rows_question(
        made, TomlTable::parse("table = \"t.csv\"\ntarget = \"y\"\nadjacency = \"remove\"\n"
                               "loss = \"sum\"\n" +
                                   text,
                               "q.toml"));
    return made;
  };
  EXPECT_EQ(std::get<double>(read("noise = 3").noise), 3.0);
  EXPECT_EQ(std::get<std::string>(read("noise = \"n.npz\"").noise), "n.npz");
  EXPECT_EQ(read("noise = [10, 1]").noises, (std::vector<double>{1, 10}));
  EXPECT_EQ(read("noise = \"1,10, 100\"").noises, (std::vector<double>{1, 10, 100}));
  EXPECT_EQ(read("goal = \"advantage=0.1\"").goal->most, 0.1);
  EXPECT_EQ(read("for = \"eps = 2\"").goal->measure, RowsGoal::Measure::epsilon);
  EXPECT_THROW((void)read("for = \"mu=1\""), InvalidArgument);
  EXPECT_THROW((void)read("for = \"eps=x\""), InvalidArgument);
  EXPECT_THROW((void)read("ridge = 1"), InvalidArgument);  // no noise
}

TEST_F(Rows, CombinationsThatMakeNoSense) {
  question.training.reset();
  question.learning_rate = 0.1;
  refused("learning_rate", "steps");
  question.steps = 10.0;
  question.time = 1.0;
  refused("time", "steps");
  question.time.reset();
  question.training = RowsTraining::flow;
  refused("learning_rate", "flow takes no steps");
  question.training.reset();
  question.release = true;
  refused("learning_rate", "release");
  question.learning_rate.reset();
  refused("steps", "release");
  question.release = false;
  refused("steps", "learning_rate");
  question.steps.reset();
  question.adjacency = Adjacency::replace;
  refused("adjacency", "replacement");
  question.adjacency = Adjacency::remove;
  question.replacement = table;
  refused("replacement", "replace");
  question.replacement.clear();
  question.check = 1;
  refused("check", "exact");
  question.check.reset();
  question.loss = LossScale::mean;
  question.ridge_scale = RidgeScale::times_rows;
  refused("ridge_scale", "mean");
}

TEST(RowsKeys, FillTheQuestion) {
  RowsQuestion question;
  read_keys(
      question,
      TomlTable::parse("table = 't.csv'\ntarget = 'y'\nadjacency = 'replace'\nwith = 'o.csv'\n"
                       "loss = 'mean'\nnoise = 'n.npz'\nstandardize = 'self'\ncheck = 0\n"
                       "intercept = false\nepsilon = 2\nseed = 9223372036854775807\n",
                       "d/q.toml"),
      rows_keys());
  EXPECT_EQ(question.table, "d/t.csv");
  EXPECT_EQ(question.replacement, "d/o.csv");
  EXPECT_EQ(std::get<std::string>(question.noise), "d/n.npz");
  EXPECT_EQ(question.standardise, "self");
  EXPECT_EQ(question.adjacency, Adjacency::replace);
  EXPECT_EQ(question.loss, LossScale::mean);
  EXPECT_EQ(question.check, 0);
  EXPECT_FALSE(question.intercept);
  EXPECT_EQ(question.epsilons, std::vector<double>{2.0});
  EXPECT_EQ(question.seed, 9223372036854775807U);
  const std::string message = message_of<InvalidArgument>([] {
    RowsQuestion empty;
    read_keys(empty, TomlTable::parse("table = 't.csv'\n", "q.toml"), rows_keys());
  });
  for (const char* key : {"`target`", "`adjacency`", "`loss`", "`noise`"}) {
    EXPECT_NE(message.find(key), std::string::npos) << message;
  }
}

}  // namespace
}  // namespace sfumato::lab
