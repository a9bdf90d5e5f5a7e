#include "sfumato/design/design_answer.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <string>

#include "sfumato/core/error.hpp"
#include "sfumato/design/design_keys.hpp"

namespace sfumato {
namespace {

class DesignAnswers : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ =
        std::filesystem::temp_directory_path() / ("sfumato_design_" + std::to_string(::getpid()));
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string write(const std::string& name, const std::string& text) {
    std::ofstream(folder_ / name) << text;
    return (folder_ / name).string();
  }
  std::string key_of(const DesignQuestion& question) {
    try {
      (void)answer(question, observer_);
    } catch (const InvalidArgument& error) {
      return error.where().is_key() ? error.where().text() : error.where().text();
    }
    return "nothing";
  }

  std::filesystem::path folder_;
  Observer observer_;
};

TEST_F(DesignAnswers, ClosedFormOfSecondMoments) {
  DesignQuestion question;
  question.second_moments = write("g.csv", "100\n1\n");
  question.differences_are = DifferencesOrigin::public_data;
  question.trace = 25.0;
  const DesignAnswer found = answer(question, observer_);
  const Design& design = std::get<Design>(found.found);
  EXPECT_NEAR(design.value, 121.0 / 25.0, 1e-9);
  EXPECT_NEAR(design.isotropic_value, 202.0 / 25.0, 1e-9);
  EXPECT_FALSE(found.minimax);
  const CovarianceFile file = covariance_of(found).value();
  EXPECT_EQ(file.provenance.at("differences_are"), "public");
  EXPECT_EQ(file.provenance.at("objective"), "average");
}

TEST_F(DesignAnswers, AFrontierIsManyDesigns) {
  DesignQuestion question;
  question.differences = write("d.csv", "3,0\n0,4\n");
  question.frontier = {0.1, 10.0};
  const DesignAnswer found = answer(question, observer_);
  EXPECT_EQ(std::get<std::vector<DesignFrontierPoint>>(found.found).size(), 21U);
  EXPECT_FALSE(covariance_of(found).has_value());
}

TEST_F(DesignAnswers, AProblemIsIterated) {
  DesignQuestion question;
  question.problem = write("p.toml",
                           "[flow]\ntimes = [inf]\n[d]\nA = [100, 1]\nminimiser = [1, 1]\n"
                           "Sigma = 1\n[d_prime]\nminimiser = [1.1, 1.1]\n");
  const DesignAnswer found = answer(question, observer_);
  const auto& rounds = std::get<IterationAnswer>(found.found);
  EXPECT_TRUE(rounds.exact);
  EXPECT_EQ(rounds.beside.size(), rounds.design.rounds.size());
  EXPECT_LT(rounds.design.result().kl.value, rounds.design.rounds.front().kl.value);
  bool reverse = false;
  const Document document = document_of(found, Detail::full);
  for (const Result& result : document.results()) {
    reverse = reverse || result.quantity == "kl_reverse";
  }
  EXPECT_TRUE(reverse);
}

TEST_F(DesignAnswers, ContradictionsNameTheirKey) {
  DesignQuestion question;
  question.trace = 1.0;
  EXPECT_EQ(key_of(question), "differences");  // nothing to hide
  question.differences = write("d.csv", "3,0\n0,4\n");
  question.cost = 1.0;
  EXPECT_EQ(key_of(question), "trace");
  question.cost.reset();
  question.trace = -1.0;
  EXPECT_EQ(key_of(question), "trace");
  question.trace = 1.0;
  question.form = DesignForm::grouped;
  EXPECT_EQ(key_of(question), "groups");
  question.form = DesignForm::full;
  question.rounds = 3;
  EXPECT_EQ(key_of(question), "rounds");
  question.rounds.reset();
  question.hessian = "h.csv";
  EXPECT_EQ(key_of(question), "hessian");
}

TEST(DesignKeys, ATomlFileSaysWhatOptionsSay) {
  const TomlTable table = TomlTable::parse(
      "differences = \"d.csv\"\ndifferences_are = \"public\"\nform = \"low-rank\"\nrisk = 2\n",
      "q/design.toml");
  DesignQuestion question;
  read_keys(question, table, design_keys());
  EXPECT_EQ(question.differences, "q/d.csv");
  EXPECT_EQ(question.differences_are, DifferencesOrigin::public_data);
  EXPECT_EQ(question.form, DesignForm::low_rank);
  EXPECT_EQ(question.cost, 2.0);
}

}  // namespace
}  // namespace sfumato
