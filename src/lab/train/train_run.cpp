#include "lab/train/train_run.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <numeric>

#include "lab/nn/kernel/matrix.hpp"
#include "lab/study/checkpoint.hpp"
#include "sfumato/core/error.hpp"

namespace sfumato::lab {
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

void resume(TrainRun& run, const TrainInput& input, const std::string& path) {
  if (!std::filesystem::exists(path)) {
    throw InvalidArgument("there is no checkpoint to resume from",
                          "Leave out `resume` to train from the start", Where::in(path));
  }
  Checkpoint checkpoint = read_checkpoint(path);
  const std::vector<std::string> differences = study_differences(checkpoint.study, input.identity);
  if (!differences.empty()) {
    throw InvalidArgument(
        fmt::format("the checkpoint belongs to another study: {}", fmt::join(differences, "; ")),
        "Resume with that study, or choose another directory for this one (`out`)",
        Where::in(path));
  }
  if (checkpoint.state.step > input.study.train.iterations) {
    throw InvalidArgument(fmt::format("the checkpoint is of step {}, but the study has only {}",
                                      checkpoint.state.step, input.study.train.iterations),
                          "Remove it and train from the start", Where::in(path));
  }
  if (checkpoint.instruction_set != kernel::instruction_set()) {
    run.notes.push_back(
        fmt::format("the first {} steps used {} instructions, the rest {}: the results may differ "
                    "in rounding from a run on one machine",
                    checkpoint.state.step, checkpoint.instruction_set, kernel::instruction_set()));
  }
  run.seconds = checkpoint.seconds;
  run.resumed_at = checkpoint.state.step;
  run.group.restore(std::move(checkpoint.state));
}

void evaluate(TrainRun& run, const TrainInput& input) {
  run.training = summarise_training(run.group, *input.data);
  if (!input.sets.test) return;
  const LabelledSet& test = *input.sets.test;
  const std::size_t wanted = input.study.data.test_records;
  std::vector<std::uint32_t> records(wanted == 0 ? test.count() : std::min(wanted, test.count()));
  std::iota(records.begin(), records.end(), 0U);
  run.test = summarise(run.group, RecordStore(test, records),
                       std::span(test.labels).first(records.size()));
}

}  // namespace

std::string checkpoint_path(const TrainQuestion& question) {
  const std::filesystem::path file(question.study);
  if (question.out.empty()) return file.stem().string() + ".checkpoint.npz";
  return (std::filesystem::path(question.out) / "checkpoint.npz").string();
}

TrainRun train(const TrainInput& input, const TrainQuestion& question, Observer& observer) {
  const std::string path = checkpoint_path(question);
  TrainRun run{TrialGroup(input.network, input.data, input.policies, input.study.train,
                          Where::in(input.study.source))};
  if (question.resume) {
    resume(run, input, path);
  } else if (std::filesystem::exists(path)) {
    throw InvalidArgument("an interrupted run left its state here",
                          "Add `resume` to continue it, or remove the file", Where::in(path));
  }
  PausingObserver pausing(observer, !question.out.empty());
  const std::uint64_t end = input.study.train.iterations;
  while (true) {
    const Clock::time_point start = Clock::now();
    run.group.train_until(end, pausing);
    run.seconds += std::chrono::duration<double>(Clock::now() - start).count();
    if (run.group.step() >= end) break;
    write_checkpoint(path,
                     {input.identity, kernel::instruction_set(), run.seconds, run.group.state()});
    if (observer.stop_requested()) return run;
    pausing.go_on();
  }
  evaluate(run, input);
  return run;
}

}  // namespace sfumato::lab
