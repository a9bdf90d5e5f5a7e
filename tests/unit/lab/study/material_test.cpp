#include "lab/study/material.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "lab/study/checkpoint.hpp"
#include "lab/study/measures.hpp"
#include "sfumato/data/covariance_file.hpp"
#include "sfumato/data/npz.hpp"
#include "support/small_study.hpp"

namespace sfumato::lab {
namespace {

class StudyMaterial : public testing::Test {
 protected:
  Study study(std::vector<std::string> settings = {}) {
    settings.insert(settings.begin(),
                    {"train.gradient_differences=true", "train.log_every=10",
                     "noise=[{policy='isotropic', variance=1e-4}, {policy='none'}]"});
    return small.study(settings);
  }
  template <class Action>
  void refused(Action&& action, const std::vector<std::string>& needles) {
    const std::string message = message_of<InvalidArgument>(action);
    for (const std::string& needle : needles) {
      EXPECT_NE(message.find(needle), std::string::npos) << needle << " is not in: " << message;
    }
  }

  SmallStudy small;
  TempDir& dir = small.dir;
};

TEST_F(StudyMaterial, PairsDifferInOneSlot) {
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

TEST_F(StudyMaterial, MoreThanThereIsIsRefused) {
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

TEST_F(StudyMaterial, ModelsThatDoNotFitTheData) {
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

TEST_F(StudyMaterial, CovariancesAreSpreadOverParameters) {
  const StudySets sets = load_sets(study());
  const Network network = network_of(study().model, sets.train);
  const std::string fixed = "noise.none.policy=fixed";
  const auto with = [&](const std::string& file) {
    return study({fixed, "noise.1.covariance='" + (dir / file) + "'"});
  };
  write_covariance(dir / "iso.npz", {Isotropic{0.25, 43}, {}});
  const std::vector<NoisePolicy> policies = policies_of(with("iso.npz"), network);
  ASSERT_EQ(policies.size(), 2U);
  ASSERT_TRUE(policies[1].fixed);
  EXPECT_EQ(*policies[1].fixed, std::vector<float>(43, 0.25F));
  EXPECT_EQ(policies[1].variance, 1.0);
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
  const NoisePolicy low = policies_of(with("low.npz"), network)[1];
  EXPECT_EQ(*low.fixed, std::vector<float>(43, 0.5F));
  ASSERT_TRUE(low.factor);
  EXPECT_EQ(*low.factor, std::vector(2, std::vector<float>(43, 0.125F)));
}

TEST_F(StudyMaterial, CheckpointsKeepEveryBit) {
  const Study s = study();
  const StudySets sets = load_sets(s);
  const Network network = network_of(s.model, sets.train);
  const auto data = training_data(sets.train, adjacent_pair(s, sets.train));
  const auto group = [&] { return TrialGroup(network, data, policies_of(s, network), s.train); };
  Observer quiet;
  TrialGroup whole = group();
  whole.train_until(40, quiet);
  TrialGroup first = group();
  first.train_until(17, quiet);
  write_checkpoint(dir / "c.npz",
                   {canonical_text(s) + inputs_text(s, sets), "AVX", 1.5, first.state()});
  const Checkpoint read = read_checkpoint(dir / "c.npz");
  EXPECT_EQ(read.state.step, 17U);
  EXPECT_EQ(read.seconds, 1.5);
  EXPECT_EQ(read.instruction_set, "AVX");
  EXPECT_EQ(read.study, canonical_text(s) + inputs_text(s, sets));
  TrialGroup second = group();
  second.restore(read.state);
  second.train_until(40, quiet);
  for (std::size_t m = 0; m < whole.models().size(); ++m) {
    EXPECT_EQ(whole.parameters(m), second.parameters(m));
    const ModelRecord &a = whole.models()[m], &b = second.models()[m];
    EXPECT_EQ(a.path_kl.nats, b.path_kl.nats);
    EXPECT_EQ(a.path_kl.steps, b.path_kl.steps);
    EXPECT_EQ(a.path_kl.infinite_steps, b.path_kl.infinite_steps);
    ASSERT_EQ(a.path_kl.first_infinite.has_value(), b.path_kl.first_infinite.has_value());
    EXPECT_EQ(a.path_kl.first_infinite.has_value(), m >= 2);  // without noise
    if (a.path_kl.first_infinite) {
      EXPECT_EQ(a.path_kl.first_infinite->step, b.path_kl.first_infinite->step);
      EXPECT_EQ(a.path_kl.first_infinite->count, b.path_kl.first_infinite->count);
      EXPECT_EQ(a.path_kl.first_infinite->first_coordinates,
                b.path_kl.first_infinite->first_coordinates);
    }
    EXPECT_EQ(a.squared_differences, b.squared_differences);
    ASSERT_EQ(a.losses.size(), b.losses.size());
    for (std::size_t i = 0; i < a.losses.size(); ++i) EXPECT_EQ(a.losses[i].loss, b.losses[i].loss);
  }
  const auto damaged = [&](const auto& change) {
    GroupState state = first.state();
    change(state);
    write_checkpoint(dir / "d.npz", {"study", "AVX", 1.5, state});
    return [&] { (void)read_checkpoint(dir / "d.npz"); };
  };
  refused(damaged([](GroupState& state) { state.parameters[0][3] = NAN; }), {"d.npz", "finite"});
  refused(damaged([](GroupState& state) { state.models[0].path_kl.nats = -5.0; }),
          {"-5", "amount"});
  refused(damaged([](GroupState& state) { state.models[0].path_kl.nats = NAN; }),
          {"nan", "amount"});
  // Any other change is noticed by the digest; without one, the file is of an earlier version.
  const auto rewritten = [&](const auto& change) {
    Arrays arrays = read_npz(dir / "c.npz");
    change(arrays);
    NpzWriter writer;
    for (const auto& [name, array] : arrays) writer.add(name, array);
    writer.write(dir / "e.npz");
    return [&] { (void)read_checkpoint(dir / "e.npz"); };
  };
  EXPECT_NO_THROW(rewritten([](Arrays&) {})());
  refused(rewritten([](Arrays& a) { a.at("parameters").values(0, 0) += 1.0; }), {"damaged"});
  refused(rewritten([](Arrays& a) { a.at("step").values(0, 0) = 18; }), {"damaged"});
  refused(rewritten([](Arrays& a) { a.erase("losses"); }), {"damaged"});
  refused(rewritten([](Arrays& a) { a.erase("digest"); }),
          {"an earlier version", "from the start"});
  put(dir / "bad.npz", "no archive");
  refused([&] { (void)read_checkpoint(dir / "bad.npz"); }, {"bad.npz"});
  write_covariance(dir / "cov.npz", {Isotropic{1, 2}, {}});
  refused([&] { (void)read_checkpoint(dir / "cov.npz"); }, {"not a checkpoint", "study"});
}

TEST_F(StudyMaterial, SummariesAreOfTheModelsOwnWorld) {
  const Study s = study({"train.path_kl=false", "train.gradient_differences=false"});
  const StudySets sets = load_sets(s);
  const Network network = network_of(s.model, sets.train);
  const SlotPair pair = adjacent_pair(s, sets.train);
  const auto data = training_data(sets.train, pair);
  TrialGroup group(network, data, policies_of(s, network), s.train);
  const auto summaries = summarise_training(group, *data);
  ASSERT_EQ(summaries.size(), 4U);
  EXPECT_EQ(summaries[0]->records, 20U);
  EXPECT_EQ(summaries[1]->records, 19U);  // D' lacks one
  // Untrained, all models are equal: the sums differ by the loss of the record alone.
  const TrialGroup::Evaluation all = group.evaluate(data->store, data->labels);
  const double record = all.losses[0][pair.other.changes[0].slot];
  EXPECT_NEAR(20 * summaries[0]->mean_loss - 19 * summaries[1]->mean_loss, record, 1e-6);
}

/// Against sums over the records, written out.
TEST_F(StudyMaterial, MeasuresAreOfTheModelsOwnWorld) {
  for (const std::string kind : {"remove", "replace"}) {
    const Study s = study({"adjacency.kind=" + kind});
    const StudySets sets = load_sets(s);
    const Network network = network_of(s.model, sets.train);
    const SlotPair pair = adjacent_pair(s, sets.train);
    const auto data = training_data(sets.train, pair);
    TrialGroup group(network, data, policies_of(s, network), s.train);
    const std::vector<float> parameters = group.parameters(0);
    const std::vector<double> at(parameters.begin(), parameters.end());
    const WorldRecords d(*data, 0), d_prime(*data, 1);
    ASSERT_EQ(d.records().size(), 20U);
    ASSERT_EQ(d_prime.records().size(), 20U);
    EXPECT_EQ(d_prime.records()[pair.other.changes[0].slot].values.empty(), kind == "remove");

    const auto sum = [&](const WorldRecords& world) {
      return batch_gradient(network, at, world.records(), LossScale::sum).gradient;
    };
    const std::vector<double> a = sum(d), b = sum(d_prime);
    double squared = 0.0;
    for (std::size_t i = 0; i < a.size(); ++i) squared += (a[i] - b[i]) * (a[i] - b[i]);
    const FlatnessMeasure flatness = measure_flatness(network, parameters, d, d_prime);
    EXPECT_NEAR(flatness.gradient_difference, std::sqrt(squared), 1e-9);
    EXPECT_EQ(flatness.segment.has_value(), kind == "replace");

    double trace = 0.0;
    std::vector<double> unit(a.size());
    for (std::size_t i = 0; i < unit.size(); ++i) {
      unit[i] = 1.0;
      trace += hessian_product(network, at, d_prime.records(), LossScale::mean, unit)[i];
      unit[i] = 0.0;
    }
    const HessianMeasure hessian =
        measure_hessian(network, parameters, d_prime, LossScale::mean, 1);
    // Six standard errors: a false alarm in 1e-8 of all seeds, and the seed is fixed.
    EXPECT_NEAR(hessian.trace.value.value, trace, 6 * hessian.trace.value.standard_error);
    EXPECT_GT(hessian.trace.value.standard_error, 0.0);

    const auto covariance = measure_covariance(network, parameters, d, s.train);
    ASSERT_TRUE(covariance);
    double spread = 0.0;  // of the records' gradients about their mean; Spec §10 with n = 5 of 20
    for (const LabelledRecord& record : d.records()) {
      const std::vector<double> g = record_gradient(network, at, record).gradient;
      for (std::size_t i = 0; i < g.size(); ++i) spread += std::pow(g[i] - a[i] / 20, 2) / 20;
    }
    EXPECT_NEAR(covariance->trace, spread / 5 * 15 / 19, 1e-9 * spread);
    Training poisson = s.train;
    poisson.batches = BatchScheme::poisson;
    EXPECT_FALSE(measure_covariance(network, parameters, d, poisson));
    EXPECT_THROW((void)measure_flatness(network, parameters, d, d), InvalidArgument);
  }
}

}  // namespace
}  // namespace sfumato::lab
