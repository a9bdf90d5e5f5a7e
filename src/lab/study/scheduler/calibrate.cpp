#include "lab/study/scheduler/calibrate.hpp"

#include <chrono>
#include <cmath>
#include <exception>
#include <vector>

#include "lab/study/trial_runner.hpp"
#include "sfumato/core/parallel.hpp"

namespace sfumato::lab {
namespace {

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Watches a group train and stops it when the time is over.
class Stopwatch final : public Observer {
 public:
  Stopwatch(const Observer& user, double seconds) : user_(user), end_(now() + seconds) {}

  void progress(std::string_view, std::uint64_t done, std::uint64_t) override {
    const double time = now();
    if (done > step_ && calls_ > 1) {  // the first steps meet cold caches
      steps_ += done - step_;
      seconds_ += time - time_;
    }
    step_ = done;
    time_ = time;
    ++calls_;
  }
  [[nodiscard]] bool stop_requested() const override {
    return user_.stop_requested() || (steps_ > 0 && now() > end_);
  }
  [[nodiscard]] double seconds_per_step() const { return seconds_ / static_cast<double>(steps_); }

 private:
  const Observer& user_;
  double end_;
  std::uint64_t step_ = 0, steps_ = 0, calls_ = 0;
  double time_ = 0.0, seconds_ = 0.0;
};

struct Measured {
  bool whole = false;
  double seconds = 0.0;  ///< of the run
  double per_step = 0.0;
};

/// One group on each thread, for `seconds` at most; the slowest of whole groups, else the mean.
Measured measure(const TrialRunner& runner, unsigned threads, double seconds,
                 const Observer& observer) {
  std::vector<Measured> all(threads);
  std::vector<std::string> failures(threads);
  std::vector<std::exception_ptr> problems(threads);
  const auto time_group = [&](std::uint64_t i) {
    Stopwatch watch(observer, seconds);
    const double begin = now();
    try {
      const std::vector<TrialResult> results = runner.run(i % runner.groups(), watch);
      all[i] = {!results.empty(), now() - begin, watch.seconds_per_step()};
      if (!results.empty()) failures[i] = results.front().message;
    } catch (...) {
      problems[i] = std::current_exception();
    }
  };
  {
    const auto pool = start_threads(threads - 1, time_group);
    threads = static_cast<unsigned>(pool.size()) + 1;  // as many as the system allows
    time_group(threads - 1);
  }
  Measured together{true, 0.0, 0.0};
  for (unsigned i = 0; i < threads; ++i) {
    if (problems[i]) std::rethrow_exception(problems[i]);
    if (!failures[i].empty()) {
      throw InvalidArgument("a trial of the study fails: " + failures[i], "Correct the study",
                            Where::in(runner.study().source));
    }
    together.whole = together.whole && all[i].whole;
    together.seconds = std::max(together.seconds, all[i].seconds);
    together.per_step += all[i].per_step / threads;
  }
  return together;
}

}  // namespace

TimeCalibration calibrate(const Study& study, unsigned threads, double seconds, Observer& observer,
                          const DataPlaces& places) {
  if (threads == 0) throw InvalidArgument("threads = 0", "Use at least one thread");
  TimeCalibration calibration;
  calibration.threads = threads;
  const Measured steps = measure(TrialRunner(study, places), threads, seconds, observer);
  if (steps.whole) {
    calibration.group_seconds = steps.seconds;
    calibration.whole = true;
    return calibration;
  }
  Study shortest = study;
  shortest.train.iterations = 1;
  const Measured rest =
      measure(TrialRunner(std::move(shortest), places), threads, HUGE_VAL, observer);
  const double trainings = study.audit.together() ? 1.0 : 2.0;  // D and D' together or in turn
  calibration.group_seconds =
      rest.seconds + trainings * static_cast<double>(study.train.iterations) * steps.per_step;
  return calibration;
}

double predicted_seconds(const TimeCalibration& calibration, std::uint64_t groups,
                         std::uint64_t workers) {
  if (workers == 0) throw InvalidArgument("workers = 0", "Use at least one");
  const std::uint64_t rounds = (groups + workers - 1) / workers;
  return static_cast<double>(rounds) * calibration.group_seconds;
}

}  // namespace sfumato::lab
