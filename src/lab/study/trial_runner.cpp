#include "lab/study/trial_runner.hpp"

#include <chrono>
#include <exception>
#include <new>

#include "lab/nn/kernel/matrix.hpp"
#include "sfumato/random/stream.hpp"
#include "sfumato/version.hpp"

namespace sfumato::lab {
namespace {

/// The seed of a trial's models: of both worlds, or of one that has its own.
std::uint64_t trial_seed(std::uint64_t seed, std::uint64_t pair, std::uint64_t replica,
                         std::uint64_t world) {
  const PhiloxKey words = StreamKey(seed, Purpose::trial, {pair, replica, world}).words();
  return std::uint64_t{words[1]} << 32 | words[0];
}

}  // namespace

TrialRunner::TrialRunner(Study study, const DataPlaces& places) : study_(std::move(study)) {
  if (study_.model.kind == ModelKind::network) {
    trials_.emplace<NetworkTrials>(study_, places);
  } else {
    trials_.emplace<ConvexTrials>(study_);
  }
}

LedgerIdentity TrialRunner::identity() const {
  LedgerIdentity identity{
      canonical_text(study_), std::string(kVersion), kernel::instruction_set(), {}};
  if (const auto* network = network_trials()) {
    identity.checksums = network->checksums();
  } else {
    identity.checksums = std::get<ConvexTrials>(trials_).problem().checksums();
  }
  return identity;
}

std::size_t TrialRunner::groups() const { return study_.audit.pairs * study_.audit.replicas; }

std::vector<TrialKey> TrialRunner::keys(std::size_t group) const {
  std::vector<TrialKey> keys;
  for (std::size_t p = 0; p < study_.noise.size(); ++p) {
    keys.push_back({static_cast<std::uint32_t>(p),
                    static_cast<std::uint32_t>(group / study_.audit.replicas),
                    static_cast<std::uint32_t>(group % study_.audit.replicas)});
  }
  return keys;
}

void TrialRunner::train(std::uint64_t draw, const TrialSeeds& seeds,
                        const std::vector<std::size_t>& worlds, std::vector<TrialResult>& results,
                        Observer& observer) const {
  if (const auto* network = network_trials()) {
    network->train(draw, seeds, worlds, results, observer);
  } else {
    std::get<ConvexTrials>(trials_).train(draw, seeds.noise, worlds, results, observer);
  }
}

std::vector<TrialResult> TrialRunner::run(std::size_t group, Observer& observer) const {
  const auto begin = std::chrono::steady_clock::now();
  std::vector<TrialResult> results;
  for (const TrialKey& key : keys(group)) {
    TrialResult result;
    result.key = key;
    result.seed = trial_seed(study_.train.seed, key.pair, key.replica, 0);
    result.worlds.resize(study_.audit.worlds());
    results.push_back(std::move(result));
  }
  const TrialKey first = results.front().key;
  try {
    const std::uint64_t draw = study_.audit.random_pairs ? group : first.pair;
    if (study_.audit.worlds() == 1) {
      network_trials()->train_by_coins(results.front().seed, results, observer);
    } else if (study_.audit.together()) {
      train(draw, TrialSeeds::of(results.front().seed), {0, 1}, results, observer);
    } else {
      const AuditSpec& audit = study_.audit;
      const std::uint64_t common = results.front().seed;
      for (std::size_t world = 0; world < 2; ++world) {
        const std::uint64_t own = trial_seed(study_.train.seed, first.pair, first.replica, world);
        const auto of = [&](bool shared) { return audit.coupled && shared ? common : own; };
        train(draw, {of(audit.share.init), of(audit.share.batches), of(audit.share.noise)}, {world},
              results, observer);
      }
    }
  } catch (const std::bad_alloc&) {
    throw;  // says nothing about the trial: it is trained again where there is memory
  } catch (const std::exception& error) {
    for (TrialResult& result : results) {
      result.status = TrialStatus::failed;
      result.message = error.what();
      result.worlds.clear();
    }
  }
  if (observer.stop_requested()) return {};
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  for (TrialResult& result : results) {
    result.seconds = seconds / static_cast<double>(results.size());
  }
  return results;
}

}  // namespace sfumato::lab
