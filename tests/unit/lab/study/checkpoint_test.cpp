#include "lab/study/checkpoint.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "lab/study/study_data.hpp"
#include "sfumato/data/covariance_file.hpp"
#include "sfumato/data/npz.hpp"
#include "support/small_study.hpp"

namespace sfumato::lab {
namespace {

using CheckpointTest = SmallStudyTest;

TEST_F(CheckpointTest, KeepsEveryBit) {
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

}  // namespace
}  // namespace sfumato::lab
