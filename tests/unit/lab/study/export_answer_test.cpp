#include "lab/study/export_answer.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "sfumato/data/npy.hpp"
#include "sfumato/data/npz.hpp"
#include "support/small_study.hpp"

namespace sfumato::lab {
namespace {

TrialResult trial(std::uint32_t replica, std::size_t losses = 3) {
  TrialResult result;
  result.key = {1, 0, replica};
  result.seed = (std::uint64_t{5} << 32) + 7 + replica;
  result.seconds = 0.5;
  for (int w = 0; w < 2; ++w) {
    WorldResult world;
    world.training_loss = 0.25 + w;
    world.test_accuracy = std::nan("");
    world.path_kl = std::nan("");
    world.scores = {{"loss", -1.5}};
    world.series = {{"record_losses", std::vector<float>(losses, 0.5F)}};
    result.worlds.push_back(std::move(world));
  }
  return result;
}

class ExportTest : public testing::Test {
 protected:
  ExportTest() : study(small.study()) {}
  Ledger with(const std::vector<TrialResult>& trials) {
    Ledger ledger = Ledger::open(small.dir / "a.ledger", {canonical_text(study), "1", "x", {}},
                                 study_differences);
    ledger.commit(trials);
    return ledger;
  }
  SmallStudy small;
  Study study;
};

TEST_F(ExportTest, CsvHasARowPerModel) {
  TrialResult failed;
  failed.key = {0, 0, 0};
  failed.status = TrialStatus::failed;
  TrialResult diverged = trial(1);
  diverged.status = TrialStatus::diverged;
  diverged.worlds[0].diverged_at = 9;
  diverged.worlds[0].scores.clear();
  const Ledger ledger = with({failed, trial(0), diverged});
  EXPECT_EQ(export_csv(ledger, study, small.dir / "t.out", false), 4U);
  EXPECT_EQ(get(small.dir / "t.out"),
            "policy,pair,replica,world,status,seed,diverged_at,training_loss,largest_loss,"
            "training_accuracy,test_accuracy,path_kl,infinite_steps,loss\n"
            "anisotropic,0,0,D,ok,\"21474836487\",\"\",0.25,0,0,\"\",\"\",0,-1.5\n"
            "anisotropic,0,0,D',ok,\"21474836487\",\"\",1.25,0,0,\"\",\"\",0,-1.5\n"
            "anisotropic,0,1,D,diverged,\"21474836488\",9,0.25,0,0,\"\",\"\",0,\"\"\n"
            "anisotropic,0,1,D',diverged,\"21474836488\",\"\",1.25,0,0,\"\",\"\",0,-1.5\n");
  EXPECT_EQ(export_csv(ledger, study, small.dir / "t.out", true), 4U);
  EXPECT_NE(get(small.dir / "t.out").find(",loss,seconds\n"), std::string::npos);
  EXPECT_THROW((void)export_csv(ledger, study, small.dir / "no/t.out", false), StorageError);
}

TEST_F(ExportTest, NpzHasAnArrayPerColumnAndSeries) {
  TrialResult none = trial(1);
  none.worlds[1].series.clear();
  const Ledger ledger = with({trial(0), none});
  const std::string path = small.dir / "t.npz";
  EXPECT_EQ(export_npz(ledger, study, path, false), 4U);
  const Arrays arrays = read_npz(path);
  EXPECT_EQ(arrays.at("policy").values, Eigen::MatrixXd::Constant(4, 1, 1.0));
  EXPECT_EQ(arrays.at("world").values, Eigen::Vector4d(0, 1, 0, 1));
  EXPECT_EQ(arrays.at("replica").values, Eigen::Vector4d(0, 0, 1, 1));
  EXPECT_EQ(arrays.at("training_loss").values, Eigen::Vector4d(0.25, 1.25, 0.25, 1.25));
  EXPECT_EQ(arrays.at("seed").values(3, 0), 5.0);
  EXPECT_EQ(arrays.at("seed").values(3, 1), 8.0);
  EXPECT_TRUE(std::isnan(arrays.at("path_kl").values(0)));
  EXPECT_EQ(arrays.at("loss").values, Eigen::MatrixXd::Constant(4, 1, -1.5));
  const Eigen::MatrixXd& losses = arrays.at("record_losses").values;
  EXPECT_EQ(losses.topRows(3), Eigen::MatrixXd::Constant(3, 3, 0.5));
  EXPECT_TRUE(losses.row(3).array().isNaN().all());
  EXPECT_EQ(text_of(arrays.at("policies"), path), "isotropic\nanisotropic\n");
  EXPECT_EQ(text_of(arrays.at("study"), path), canonical_text(study));
  EXPECT_FALSE(arrays.contains("seconds"));
  EXPECT_EQ(export_npz(ledger, study, path, true), 4U);
  EXPECT_TRUE(read_npz(path).contains("seconds"));
}

TEST_F(ExportTest, ArraysNeedRowsOfOneLength) {
  const std::string path = small.dir / "t.npz";
  Ledger ledger = with({});
  EXPECT_THROW((void)export_npz(ledger, study, path, false), InvalidArgument);
  EXPECT_EQ(export_csv(ledger, study, small.dir / "t.out", false), 0U);
  ledger.commit({trial(0), trial(1, 4)});
  EXPECT_THROW((void)export_npz(ledger, study, path, false), InvalidArgument);
}

}  // namespace
}  // namespace sfumato::lab
