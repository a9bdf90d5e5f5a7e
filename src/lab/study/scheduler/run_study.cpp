#include "lab/study/scheduler/run_study.hpp"

#include <algorithm>
#include <thread>

#include "lab/study/scheduler/worker_pool.hpp"

namespace sfumato::lab {
namespace {

/// Between two looks at messages of helpers. A look costs some 50 us of a core on which others train, waiting
/// costs the helper half of this for each group: 1 % of a group keeps both below a percent.
std::chrono::milliseconds between_looks(double group_seconds) {
  return std::chrono::milliseconds(std::clamp(static_cast<std::int64_t>(1e3 * 0.01 * group_seconds),
                                              std::int64_t{1}, std::int64_t{20}));
}

/// The trials on their way into the ledger.
class Commits {
 public:
  Commits(Ledger& ledger, RunReport& report, Observer& observer)
      : ledger_(ledger), report_(report), observer_(observer) {
    observer_.progress("trials", report_.before, report_.trials);
  }
  void add(const std::vector<TrialResult>& results) {
    ledger_.commit(results);
    report_.finished += results.size();
    group_seconds_ = 0.0;
    for (const TrialResult& trial : results) {
      group_seconds_ += trial.seconds;
      report_.failed += trial.status == TrialStatus::failed ? 1 : 0;
    }
    observer_.progress("trials", report_.before + report_.finished, report_.trials);
  }
  /// Of the last group.
  [[nodiscard]] double group_seconds() const { return group_seconds_; }

 private:
  Ledger& ledger_;
  RunReport& report_;
  Observer& observer_;
  double group_seconds_ = 0.0;
};

void run_with_helpers(Helpers& helpers, GroupQueue& queue, WorkerPool& pool, Commits& commits,
                      const Observer& observer) {
  const auto stops = [&] { return observer.stop_requested() || helpers.has_one_left(); };
  while (!stops()) {
    pool.rethrow_problem();
    std::optional<std::vector<TrialResult>> theirs = helpers.collect();
    // The one who has just finished need not wait for the disk.
    while (helpers.is_one_free()) {
      const std::optional<std::size_t> group = queue.take_now();
      if (!group) break;
      helpers.give(*group);
    }
    const auto pause = between_looks(commits.group_seconds());
    if (theirs) {
      commits.add(*theirs);
    } else if (const auto ours = pool.collect(pause)) {
      commits.add(*ours);
    } else if (pool.is_done() && helpers.in_work() == 0) {
      break;
    } else if (pool.is_done()) {
      std::this_thread::sleep_for(pause);
    }
  }
  while (const auto ours = pool.collect(std::chrono::milliseconds(0))) commits.add(*ours);
}

}  // namespace

RunReport run_study(const TrialRunner& runner, Ledger& ledger, unsigned threads, Observer& observer,
                    Helpers* helpers) {
  const std::set<TrialKey> held = ledger.finished();
  GroupQueue queue;
  RunReport report;
  for (std::size_t group = 0; group < runner.groups(); ++group) {
    const std::vector<TrialKey> keys = runner.keys(group);
    report.trials += keys.size();
    // Trials of a group are committed together, so one tells of all.
    if (held.contains(keys.front())) {
      report.before += keys.size();
    } else {
      queue.put(group);
    }
  }
  queue.close();
  const std::size_t left = queue.size();
  const auto ours = static_cast<unsigned>(std::min<std::size_t>(
      threads == 0 ? std::max(1U, std::thread::hardware_concurrency()) : threads, left));
  const unsigned theirs = helpers == nullptr ? 0 : helpers->workers();
  if (left != 0) {
    ledger.record_workers(
        static_cast<unsigned>(std::min<std::size_t>(std::size_t{ours} + theirs, left)));
  }
  Commits commits(ledger, report, observer);
  WorkerPool pool(runner, queue, ours, observer);
  if (helpers == nullptr) {
    while (const auto results = pool.collect()) commits.add(*results);
  } else {
    run_with_helpers(*helpers, queue, pool, commits, observer);
  }
  pool.rethrow_problem();
  report.stopped = report.before + report.finished < report.trials;
  return report;
}

}  // namespace sfumato::lab
