#include "lab/study/scheduler/retrain.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <thread>

#include "lab/ledger/trial_bytes.hpp"
#include "lab/study/scheduler/worker_pool.hpp"
#include "sfumato/core/error.hpp"
#include "sfumato/random/stream.hpp"

namespace sfumato::lab {
namespace {

std::vector<TrialKey> draw(std::vector<TrialKey> keys, std::uint64_t size, std::uint64_t seed) {
  const Stream stream(StreamKey(seed, Purpose::bootstrap));
  const std::uint64_t taken = std::min<std::uint64_t>(size, keys.size());
  for (std::uint64_t i = 0; i < taken; ++i) {
    std::swap(keys[i], keys[i + stream.below(0, i, keys.size() - i)]);
  }
  keys.resize(taken);
  std::sort(keys.begin(), keys.end());
  return keys;
}

bool same(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

std::string number_text(double value) { return fmt::format("{:.17g}", value); }

/// The first number in which two models differ; empty if in none.
std::string difference(const WorldResult& held, const WorldResult& now) {
  if (held.diverged_at != now.diverged_at) {
    const auto text = [](const std::optional<std::uint64_t>& step) {
      return step ? fmt::format("diverged at step {}", *step) : std::string("did not diverge");
    };
    return fmt::format("{} in the ledger, {} now", text(held.diverged_at), text(now.diverged_at));
  }
  const auto compare = [](std::string_view label, double there, double here) {
    if (same(there, here)) return std::string();
    return fmt::format("{} {} in the ledger, {} now", label, number_text(there), number_text(here));
  };
  const struct {
    const char* label;
    double there, here;
  } numbers[] = {{"training loss", held.training_loss, now.training_loss},
                 {"largest loss", held.largest_loss, now.largest_loss},
                 {"training accuracy", held.training_accuracy, now.training_accuracy},
                 {"test accuracy", held.test_accuracy, now.test_accuracy},
                 {"path KL", held.path_kl, now.path_kl}};
  for (const auto& number : numbers) {
    if (auto text = compare(number.label, number.there, number.here); !text.empty()) return text;
  }
  if (held.scores.size() != now.scores.size()) {
    return fmt::format("{} scores in the ledger, {} now", held.scores.size(), now.scores.size());
  }
  for (std::size_t i = 0; i < held.scores.size(); ++i) {
    if (held.scores[i].name != now.scores[i].name) {
      return fmt::format("score {} in the ledger, {} now", held.scores[i].name, now.scores[i].name);
    }
    auto text = compare(held.scores[i].name, held.scores[i].value, now.scores[i].value);
    if (!text.empty()) return text;
  }
  for (std::size_t i = 0; i < std::min(held.series.size(), now.series.size()); ++i) {
    const NamedSeries &there = held.series[i], &here = now.series[i];
    if (there.name != here.name || there.values.size() != here.values.size()) break;
    for (std::size_t j = 0; j < there.values.size(); ++j) {
      auto text = compare(fmt::format("{} {}", there.name, j), static_cast<double>(there.values[j]),
                          static_cast<double>(here.values[j]));
      if (!text.empty()) return text;
    }
  }
  return {};
}

std::string difference(const TrialResult& held, const TrialResult& now) {
  if (held.seed != now.seed) {
    return fmt::format("seed {} in the ledger, {} now", held.seed, now.seed);
  }
  if (held.status != now.status || held.message != now.message) {
    const auto text = [](const TrialResult& trial) {
      return trial.message.empty() ? std::string(name(trial.status))
                                   : fmt::format("{} ({})", name(trial.status), trial.message);
    };
    return fmt::format("{} in the ledger, {} now", text(held), text(now));
  }
  for (std::size_t w = 0; w < std::min(held.worlds.size(), now.worlds.size()); ++w) {
    const std::string text = difference(held.worlds[w], now.worlds[w]);
    if (!text.empty()) return (w == 0 ? "D: " : "D': ") + text;
  }
  return "its bytes differ";
}

/// SHA-256 of everything but the time it took.
std::string digest_without_time(TrialResult trial) {
  trial.seconds = 0.0;
  return trial_digest(trial);
}

}  // namespace

void require_comparable(const TrialRunner& runner, const Ledger& ledger, const std::string& path) {
  const LedgerIdentity &theirs = ledger.identity(), ours = runner.identity();
  const auto refuse = [&](const std::string& problem, const std::string& remedy) {
    throw InvalidArgument(problem, remedy, Where::in(path));
  };
  if (theirs.version != ours.version) {
    refuse(fmt::format("was made by version {}, this is {}: other code may give other bits",
                       theirs.version, ours.version),
           "Verify it with the version that made it");
  }
  for (const auto& [key, value] : ours.checksums) {
    const auto found = theirs.checksums.find(key);
    if (found == theirs.checksums.end() || found->second != value) {
      refuse(fmt::format("was computed on other data: the checksum of {} differs", key),
             "Put the data back as they were");
    }
  }
  if (runner.network_trials() != nullptr && theirs.instruction_set != ours.instruction_set) {
    refuse(fmt::format("was computed with {}, this machine uses {}: networks then sum in another "
                       "order, which changes the last digits",
                       theirs.instruction_set, ours.instruction_set),
           fmt::format("Verify it on a machine with {}", theirs.instruction_set));
  }
}

Retraining retrain(const TrialRunner& runner, const Ledger& ledger, std::uint64_t sample,
                   std::uint64_t seed, unsigned threads, Observer& observer) {
  const std::set<TrialKey> finished = ledger.finished();
  const AuditSpec& plan = runner.study().audit;
  if (finished.empty())
    throw InvalidArgument("the ledger holds no trial yet", "Run the study first");
  for (const TrialKey& key : finished) {
    if (key.policy >= runner.study().noise.size() || key.pair >= plan.pairs ||
        key.replica >= plan.replicas) {
      throw InvalidArgument(fmt::format("the ledger holds trial ({}, {}, {}), which its study does "
                                        "not have",
                                        key.policy, key.pair, key.replica),
                            "Restore it from a copy, or start a new one");
    }
  }
  Retraining result;
  result.held = finished.size();
  result.sample = draw({finished.begin(), finished.end()}, sample, seed);
  std::set<std::size_t> groups;
  for (const TrialKey& key : result.sample) groups.insert(key.pair * plan.replicas + key.replica);
  std::map<TrialKey, TrialResult> held;
  ledger.for_each([&](const TrialResult& trial) {
    if (groups.contains(trial.key.pair * plan.replicas + trial.key.replica)) {
      held.emplace(trial.key, trial);
    }
  });

  GroupQueue queue;
  for (const std::size_t group : groups) queue.put(group);
  queue.close();
  const auto at_once = static_cast<unsigned>(std::min<std::size_t>(
      threads == 0 ? std::max(1U, std::thread::hardware_concurrency()) : threads, groups.size()));
  observer.progress("trials", 0, held.size());
  WorkerPool pool(runner, queue, at_once, observer);
  std::map<TrialKey, std::string> mismatches;
  std::set<std::size_t> trained;
  while (const auto results = pool.collect()) {
    for (const TrialResult& now : *results) {
      const auto found = held.find(now.key);
      if (found == held.end()) continue;  // the ledger lacks this one of the group
      ++result.trials;
      result.models += now.worlds.size();
      trained.insert(now.key.pair * plan.replicas + now.key.replica);
      if (digest_without_time(found->second) != digest_without_time(now)) {
        mismatches[now.key] = difference(found->second, now);
      }
    }
    observer.progress("trials", result.trials, held.size());
  }
  pool.rethrow_problem();
  result.groups = trained.size();
  result.stopped = result.trials < held.size();
  for (auto& [key, what] : mismatches) result.mismatches.push_back({key, std::move(what)});
  return result;
}

double share_that_may_hide(std::uint64_t size, std::uint64_t held) {
  if (size >= held) return 0.0;
  return -std::expm1(std::log(0.05) / static_cast<double>(size));
}

}  // namespace sfumato::lab
