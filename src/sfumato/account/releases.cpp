#include "sfumato/account/releases.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "sfumato/account/account_keys.hpp"
#include "sfumato/account/planned_files.hpp"
#include "sfumato/account/spent.hpp"
#include "sfumato/core/error.hpp"
#include "sfumato/data/file_input.hpp"

namespace sfumato {

bool has_run(const AccountQuestion& question) { return question.run != ReleaseFields{}; }

Wanted wanted_of(const AccountQuestion& question) {
  const bool target = question.target_epsilon || question.target_advantage || question.target_tpr ||
                      question.target_mu;
  if (!target) return Wanted::all;
  const ReleaseFields& run = question.run;
  const bool noise = !run.noise_multiplier.empty() || run.noise_std || !run.noise_stds.empty() ||
                     !run.clips.empty();
  const bool steps = run.steps || run.epochs;
  const bool batches = run.sampler == Sampler::allocate && !run.batches_per_epoch;
  if (noise && steps && batches) return Wanted::all_but_batches;
  if (noise && steps) {
    throw InvalidArgument(
        "a target is given, and both noise and steps are: nothing is left to find",
        "Leave out the one that you look for; to check a run against a target, use claim "
        "(eps=3,delta=1e-5)",
        Where::key("target_epsilon"));
  }
  return noise ? Wanted::all_but_steps : Wanted::all_but_noise;
}

std::vector<PrivateRelease> read_history(const std::string& path, Sampler sampler) {
  const auto refuse = [&](const std::string& problem) {
    throw InvalidArgument(problem,
                          "Pass the state_dict() of an Opacus accountant as JSON: {\"history\": "
                          "[[noise multiplier, sample rate, steps], ...]}",
                          Where::in(path));
  };
  const nlohmann::json state = nlohmann::json::parse(read_file(path), nullptr, false);
  if (state.is_discarded()) refuse("is not JSON");
  if (!state.is_object() || !state.contains("history") || !state["history"].is_array()) {
    refuse("has no list `history`");
  }
  std::vector<PrivateRelease> releases;
  for (const nlohmann::json& entry : state["history"]) {
    const bool numbers = entry.is_array() && entry.size() == 3 && entry[0].is_number() &&
                         entry[1].is_number() && entry[2].is_number_unsigned();
    if (!numbers) {
      refuse(fmt::format("entry {} of `history` is not three numbers", releases.size() + 1));
    }
    PrivateRelease release{GaussianNoise{entry[0].get<double>()}, sampler, entry[1].get<double>(),
                           entry[2].get<std::uint64_t>()};
    if (sampler != Sampler::poisson && release.sample_rate < 1.0) {
      refuse(fmt::format("has sample rates below 1, which the sampler {} has not", name(sampler)));
    }
    releases.push_back(release);
  }
  return releases;
}

PrivateReleases other_releases(const AccountQuestion& question) {
  PrivateReleases all{question.adjacency.value(), question.group_size, {}};
  add_conditions(all, question.rests_on);
  for (const ReleaseFields& fields : question.releases) all.list.push_back(release_of(fields));
  if (!question.history.empty()) {
    if (!question.run.sampler) {
      throw InvalidArgument(
          "the history does not say how batches were drawn",
          "Give the sampler: poisson for Opacus with poisson_sampling=True, its default",
          Where::key("sampler"));
    }
    for (const PrivateRelease& release : read_history(question.history, *question.run.sampler)) {
      all.list.push_back(release);
    }
  }
  return all;
}

bool continues_account(const AccountQuestion& question, const std::string& path) {
  if (kept_file(path) != KeptFile::account || !question.adjacency) return false;
  PrivateReleases all = other_releases(question);
  if (has_run(question) && wanted_of(question) == Wanted::all &&
      question.run.noise_multiplier.size() == 1) {
    all.list.push_back(release_of(question.run));
  }
  return continues_account(all, path);
}

}  // namespace sfumato
