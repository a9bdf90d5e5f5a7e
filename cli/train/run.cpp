#include "train/run.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <numeric>

#include "sfumato/core/error.hpp"
#include "sfumato/nn/kernel/matrix.hpp"
#include "sfumato/study/checkpoint.hpp"

namespace sfumato::cli {
namespace {

using Clock = std::chrono::steady_clock;

constexpr auto kBetweenCheckpoints = std::chrono::seconds(30);

/// Passes everything on, and asks for a pause when a checkpoint is due.
class PausingObserver final : public Observer {
 public:
  PausingObserver(Observer& inner, bool pauses)
      : inner_(inner), pauses_(pauses), due_(Clock::now() + kBetweenCheckpoints) {}

  void progress(std::string_view stage, std::uint64_t done, std::uint64_t total) override {
    inner_.progress(stage, done, total);
  }
  void record(std::string_view topic, std::string_view message) override {
    inner_.record(topic, message);
  }
  [[nodiscard]] bool stop_requested() const override {
    return inner_.stop_requested() || (pauses_ && Clock::now() >= due_);
  }
  void go_on() { due_ = Clock::now() + kBetweenCheckpoints; }

 private:
  Observer& inner_;
  bool pauses_;
  Clock::time_point due_;
};

void resume(TrainResult& result, const TrainInput& input, const std::string& path) {
  if (!std::filesystem::exists(path)) {
    throw InvalidArgument("there is no checkpoint to resume from",
                          "Leave --resume out to train from the start", Where::in(path));
  }
  Checkpoint checkpoint = read_checkpoint(path);
  const std::vector<std::string> differences = study_differences(checkpoint.study, input.identity);
  if (!differences.empty()) {
    throw InvalidArgument(
        fmt::format("the checkpoint is of another study: {}", fmt::join(differences, "; ")),
        "Resume with that study, or train this one with another --out", Where::in(path));
  }
  if (checkpoint.state.step > input.study.train.iterations) {
    throw InvalidArgument(fmt::format("the checkpoint is of step {}, the study has {}",
                                      checkpoint.state.step, input.study.train.iterations),
                          "Remove it and train from the start", Where::in(path));
  }
  if (checkpoint.instruction_set != kernel::instruction_set()) {
    result.notes.push_back(
        fmt::format("the first {} steps were computed with {} instructions, the rest with {}: the "
                    "results may differ in rounding from those of one machine",
                    checkpoint.state.step, checkpoint.instruction_set, kernel::instruction_set()));
  }
  result.seconds = checkpoint.seconds;
  result.resumed_at = checkpoint.state.step;
  result.group.restore(std::move(checkpoint.state));
}

void evaluate(TrainResult& result, const TrainInput& input) {
  result.training = summarise_training(result.group, *input.data);
  if (!input.sets.test) return;
  const LabelledSet& test = *input.sets.test;
  const std::size_t wanted = input.study.data.test_records;
  std::vector<std::uint32_t> records(wanted == 0 ? test.count() : std::min(wanted, test.count()));
  std::iota(records.begin(), records.end(), 0U);
  result.test = summarise(result.group, RecordStore(test, records),
                          std::span(test.labels).first(records.size()));
}

}  // namespace

TrainInput read_input(const TrainOptions& options) {
  Study study = read_study(options.file, options.settings);
  StudySets sets = load_sets(study);
  SlotPair pair = adjacent_pair(study, sets.train);
  auto data = training_data(sets.train, pair);
  Network network = network_of(study.model, sets.train);
  std::vector<NoisePolicy> policies = policies_of(study, network);
  std::string identity = canonical_text(study) + inputs_text(study, sets);
  return {std::move(study),   std::move(sets),     std::move(pair),    std::move(data),
          std::move(network), std::move(policies), std::move(identity)};
}

std::string checkpoint_path(const TrainOptions& options) {
  const std::filesystem::path file(options.file);
  if (options.out.empty()) return file.stem().string() + ".checkpoint.npz";
  return (std::filesystem::path(options.out) / "checkpoint.npz").string();
}

TrainResult train(const TrainInput& input, const TrainOptions& options, Observer& observer) {
  const std::string path = checkpoint_path(options);
  TrainResult result{TrialGroup(input.network, input.data, input.policies, input.study.train,
                                Where::in(input.study.source))};
  if (options.resume) {
    resume(result, input, path);
  } else if (std::filesystem::exists(path)) {
    throw InvalidArgument("an unfinished run left its state here",
                          "Add --resume to go on with it, or remove the file", Where::in(path));
  }
  PausingObserver pausing(observer, !options.out.empty());
  const std::uint64_t end = input.study.train.iterations;
  while (true) {
    const Clock::time_point start = Clock::now();
    result.group.train_until(end, pausing);
    result.seconds += std::chrono::duration<double>(Clock::now() - start).count();
    if (result.group.step() >= end) break;
    write_checkpoint(
        path, {input.identity, kernel::instruction_set(), result.seconds, result.group.state()});
    if (observer.stop_requested()) return result;
    pausing.go_on();
  }
  evaluate(result, input);
  return result;
}

std::string world_name(std::size_t world) { return world == 0 ? "D" : "D'"; }

std::string file_stem(const NoisePolicy& policy, std::size_t world) {
  return fmt::format("{}.{}", policy.name, world == 0 ? "d" : "d_prime");
}

std::vector<std::string> parameter_names(const Network& network,
                                         const std::vector<std::size_t>& indices) {
  std::vector<std::string> names;
  names.reserve(indices.size());
  for (const std::size_t index : indices) names.push_back(network.parameter_name(index));
  return names;
}

}  // namespace sfumato::cli
