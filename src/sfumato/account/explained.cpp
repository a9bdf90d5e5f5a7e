#include <fmt/format.h>

#include <cmath>

#include "sfumato/account/accounted_run.hpp"
#include "sfumato/account/releases.hpp"
#include "sfumato/core/error.hpp"

namespace sfumato {
namespace {

/// The run itself, as it was found or given.
std::optional<PrivateRelease> run_of(const AccountAnswer& answer) {
  const AccountQuestion& question = answer.question;
  if (!has_run(question) || (!question.history.empty() && question.run.noise_multiplier.empty())) {
    return std::nullopt;
  }
  ReleaseFields fields = plain_fields(question);
  if (fields.noise_multiplier.size() > 1) fields.noise_multiplier.resize(1);
  PrivateRelease run = release_of(fields, wanted_of(question));
  if (answer.calibration) {
    const Calibration& found = *answer.calibration;
    switch (found.what) {
      case Calibration::What::noise:
        if (double* noise = multiplier_of(run.mechanism)) *noise = found.value;
        break;
      case Calibration::What::steps:
      case Calibration::What::epochs: run.steps = static_cast<std::uint64_t>(found.value); break;
      case Calibration::What::batches: run.batches = static_cast<std::uint64_t>(found.value); break;
    }
  }
  return run;
}

/// Passes over the records that a run makes, each with so many steps; nothing where a step is a pass.
std::optional<std::uint64_t> steps_of_epoch(const PrivateRelease& run) {
  if (counts_epochs(run.sampler)) return 1;
  if (run.sampler == Sampler::full || !(run.rate() > 0.0 && run.rate() < 1.0)) return std::nullopt;
  return static_cast<std::uint64_t>(std::ceil(1.0 / run.rate()));
}

}  // namespace

std::vector<ExplainedPart> explained_parts(const AccountAnswer& answer, const Observer& observer) {
  std::vector<ExplainedPart> parts;
  const PrivateReleases before = other_releases(answer.question);
  const auto add = [&](const std::string& what, const std::vector<PrivateRelease>& list,
                       NeighbouringRelation relation) {
    PrivateReleases releases{relation, before.group_size, list};
    parts.push_back(
        {what, Accountant(releases).watched_by(observer).epsilon(answer.delta).upper.value});
  };
  const std::optional<PrivateRelease> run = run_of(answer);
  if (run) {
    PrivateRelease part = *run;
    const bool has_noise = multiplier_of(part.mechanism) != nullptr;
    if (has_noise && run->rate() < 1.0) {
      part.steps = 1;
      if (!counts_epochs(run->sampler)) add("one step", {part}, before.relation);
    }
    if (const auto steps = steps_of_epoch(*run)) {
      if (*steps < run->steps) {
        part.steps = *steps;
        add("one epoch", {part}, before.relation);
      }
    } else if (run->steps > 1) {
      part.steps = 1;
      add("one step", {part}, before.relation);
    }
    add("the run", {*run}, before.relation);
    if (has_noise && (run->rate() < 1.0 || run->sampler == Sampler::allocate)) {
      PrivateRelease unsampled = *run;
      unsampled.sampler = Sampler::full;
      unsampled.sample_rate = 1.0;
      unsampled.batch_cap.reset();
      // A pass of random allocation shows a record `turns` times without its sampler.
      if (run->sampler == Sampler::allocate) unsampled.steps = run->steps * run->turns;
      unsampled.batches = 0;
      unsampled.turns = 1;
      add("the run if it were known who is sampled when", {unsampled}, before.relation);
    }
    for (const NeighbouringRelation other :
         {NeighbouringRelation::add_remove, NeighbouringRelation::zero_out,
          NeighbouringRelation::replace_one}) {
      if (other == before.relation) continue;
      try {
        add(fmt::format("the run for {} neighbours", name(other)), {*run}, other);
      } catch (const InvalidArgument&) {
        // No proof for these neighbours: no row.
      }
    }
  }
  for (const PrivateRelease& release : before.list) {
    add("released besides: " + describe(release), {release}, before.relation);
  }
  const AccountedSetting& setting = answer.settings.front();
  if (setting.tuning) parts.push_back({"the best of the runs", setting.tuning->epsilon});
  const bool moves = setting.normaliser && !setting.normaliser->pairs.empty();
  if (run && (!before.list.empty() || moves)) {
    parts.push_back({"everything", setting.epsilon.upper.value});
  }
  return parts;
}

}  // namespace sfumato
