#include "lab/study/study_data.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "sfumato/data/covariance_file.hpp"
#include "sfumato/data/npz.hpp"
#include "support/small_study.hpp"

namespace sfumato::lab {
namespace {

using StudyData = SmallStudyTest;

TEST_F(StudyData, PairsDifferInOneSlot) {
  const StudySets sets = load_sets(study());
  EXPECT_EQ(sets.train.count(), 30U);
  const SlotPair pair = adjacent_pair(study(), sets.train);
  EXPECT_EQ(pair.slots.count(), 20U);
  ASSERT_EQ(pair.other.changes.size(), 1U);
  EXPECT_TRUE(pair.other.changes[0].empty);
  const SlotPair chosen =
      adjacent_pair(study({"adjacency.record=8", "adjacency.kind=replace"}), sets.train);
  EXPECT_EQ(chosen.slots.records[chosen.other.changes[0].slot], 7U);
  EXPECT_FALSE(chosen.other.changes[0].empty);
  const SlotPair canary =
      adjacent_pair(study({"adjacency.record=8", "adjacency.canary=true"}), sets.train);
  EXPECT_NE(canary.slots.labels[canary.other.changes[0].slot], sets.train.labels[7]);
}

TEST_F(StudyData, MoreThanThereIsIsRefused) {
  refused([&] { (void)load_sets(study({"data.records=31"})); }, {"31", "30"});
  const StudySets sets = load_sets(study());
  refused([&] { (void)adjacent_pair(study({"adjacency.record=31"}), sets.train); }, {"31", "30"});
  refused(
      [&] {
        (void)adjacent_pair(study({"data.records=30", "adjacency.kind=replace"}), sets.train);
      },
      {"30", "replace"});
  refused([&] { (void)load_sets(study({"data.set=none.csv"})); }, {"none.csv"});
  put(dir / "more.csv", "a,b,c,d,class\n1,2,3,4,3\n");
  refused([&] { (void)load_sets(study({"data.test='" + (dir / "more.csv") + "'"})); },
          {"4 classes", "3"});
  put(dir / "narrow.csv", "a,b,c,class\n1,2,3,1\n");
  refused([&] { (void)load_sets(study({"data.test='" + (dir / "narrow.csv") + "'"})); },
          {"narrow.csv", "\"d\""});
  put(dir / "bare.csv", "1,2,3,4,1\n5,6,7,8,0\n3,2,1,0,1\n");
  put(dir / "wide.csv", "1,2,3,4,5,1\n");
  refused(
      [&] {
        (void)load_sets(study({"data.set='" + (dir / "bare.csv") + "'", "data.records=3",
                               "train.batch_size=3", "data.test='" + (dir / "wide.csv") + "'"}));
      },
      {"5 x 1 x 1", "4 x 1 x 1"});
  const DataPlaces nowhere{{"/nonexistent"}};
  const Study known = parse_study(
      "[data]\nset = \"cifar10\"\n[model]\npreset = \"lenet\"\n[[noise]]\npolicy = \"none\"\n",
      "s");
  refused([&] { (void)load_sets(known, nowhere); },
          {"/nonexistent/cifar-10-batches-bin/data_batch_1.bin", "sfumato data get"});
}

TEST_F(StudyData, ModelsThatDoNotFitTheData) {
  const StudySets sets = load_sets(study());
  EXPECT_EQ(network_of(study().model, sets.train).parameter_count(), 4U * 5 + 5 + 15 + 3);
  ModelSpec preset;
  preset.preset = "lenet";
  refused([&] { (void)network_of(preset, sets.train); }, {"conv1", "3 x 32 x 32", "4"});
  refused([&] { (void)network_of(study({"model.layers.2.outputs=2"}).model, sets.train); },
          {"fc2", "2 outputs", "3 classes"});
  refused(
      [&] {
        Study conv = study(
            {"model.layers.0.type=conv2d", "model.layers.0.kernel=3", "model.layers.0.channels=2"});
        (void)conv;
      },
      {"outputs"});
}

TEST_F(StudyData, CovariancesAreSpreadOverParameters) {
  const StudySets sets = load_sets(study());
  const Network network = network_of(study().model, sets.train);
  const std::string fixed = "noise.none.policy=fixed";
  const auto with = [&](const std::string& file) {
    return study({fixed, "noise.1.covariance='" + (dir / file) + "'"});
  };
  write_covariance(dir / "iso.npz", {Isotropic{0.25, 43}, {}});
  const std::vector<NoisePolicy> policies = policies_of(with("iso.npz"), network);
  ASSERT_EQ(policies.size(), 2U);
  const auto& fixed_noise = std::get<FixedNoise>(policies[1].rule);
  EXPECT_EQ(*fixed_noise.shape.variances, std::vector<float>(43, 0.25F));
  EXPECT_EQ(fixed_noise.variance, 1.0);
  write_covariance(dir / "other.npz", {Isotropic{0.25, 44}, {}});
  refused([&] { (void)policies_of(with("other.npz"), network); }, {"44", "43", "other.npz"});
  Eigen::MatrixXd dense = Eigen::MatrixXd::Identity(43, 43);
  dense(0, 1) = dense(1, 0) = 0.5;
  write_covariance(dir / "dense.npz", {Dense{dense}, {}});
  refused([&] { (void)policies_of(with("dense.npz"), network); }, {"not diagonal", "dense.npz"});
  refused([&] { (void)policies_of(with("missing.npz"), network); }, {"missing.npz"});
  write_covariance(
      dir / "low.npz",
      {Factored{Eigen::VectorXd::Constant(43, 0.5), Eigen::MatrixXd::Constant(43, 2, 0.125)}, {}});
  const NoisePolicy policy = policies_of(with("low.npz"), network)[1];
  const NoiseShape& low = *shape_of(policy.rule);
  EXPECT_EQ(*low.variances, std::vector<float>(43, 0.5F));
  ASSERT_TRUE(low.factor);
  EXPECT_EQ(*low.factor, std::vector(2, std::vector<float>(43, 0.125F)));
}

}  // namespace
}  // namespace sfumato::lab
