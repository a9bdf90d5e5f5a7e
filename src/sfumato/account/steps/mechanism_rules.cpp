#include "sfumato/account/steps/mechanism_rules.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "sfumato/account/accountant/clipping.hpp"
#include "sfumato/core/error.hpp"

namespace sfumato {

void require_multiplier(double value) {
  if (std::isfinite(value) && value >= 0.0) return;
  throw InvalidArgument(fmt::format("noise_multiplier = {} is not a finite number >= 0", value),
                        "Pass the deviation of the noise divided by the clip",
                        Where::key("noise_multiplier"));
}

std::string grouped(std::uint64_t count) {
  if (count < 1000) return fmt::format("{}", count);
  return fmt::format("{},{:03}", grouped(count / 1000), count % 1000);
}

std::string sampling_text(const PrivateRelease& release) {
  switch (release.sampler) {
    case Sampler::full: return "every record in each step";
    case Sampler::poisson: return fmt::format("Poisson sampling at rate {}", release.sample_rate);
    case Sampler::fixed_size:
      return fmt::format("batches of {} out of {} records", grouped(release.batch_size),
                         grouped(release.records));
    case Sampler::shuffle: return "shuffled batches";
    case Sampler::allocate:
      return fmt::format("random allocation to {} of {} batches",
                         release.turns == 1 ? "one" : grouped(release.turns),
                         grouped(release.batches));
  }
  throw InternalError("a sampler without a text");
}

std::string count_text(const PrivateRelease& release) {
  const bool epochs = counts_epochs(release.sampler), one = release.steps == 1;
  return fmt::format("{} {}", grouped(release.steps),
                     epochs ? (one ? "epoch" : "epochs") : (one ? "step" : "steps"));
}

void ReleaseReader::missing(const char* key, const char* what) {
  add(key, fmt::format("{} is missing ({})", key, what));
}

void ReleaseReader::superfluous(const char* key, const std::string& why) {
  add(key, fmt::format("{} {}", key, why));
}

void ReleaseReader::raise() const {
  if (texts_.empty()) return;
  throw InvalidArgument(fmt::format("{}", fmt::join(texts_, "; ")), "", Where::key(key_));
}

void ReleaseReader::add(const char* key, std::string text) {
  if (texts_.empty()) key_ = key;
  texts_.push_back(std::move(text));
}

double ReleaseReader::multiplier() {
  const bool layers = !fields.clips.empty() || !fields.noise_stds.empty();
  const int ways =
      (fields.noise_multiplier.empty() ? 0 : 1) + (fields.noise_std ? 1 : 0) + (layers ? 1 : 0);
  if (ways > 1) {
    superfluous("noise_multiplier",
                "is given in two ways: keep one of noise_multiplier, noise_std and noise_stds");
    return 1.0;
  }
  if (wanted == Wanted::all_but_noise) {
    if (ways > 0) superfluous("noise_multiplier", "is what is sought: leave it out");
    return 1.0;
  }
  if (layers) {
    if (fields.clips.size() != fields.noise_stds.size()) {
      superfluous("noise_stds", fmt::format("has {} numbers and clips {}: one each per layer",
                                            fields.noise_stds.size(), fields.clips.size()));
      return 1.0;
    }
    return multiplier_of(contribution_of_layers(fields.clips, fields.noise_stds));
  }
  if (fields.noise_std) {
    if (!fields.clip) {
      missing("clip", "noise_std is in the unit of the gradients: by which norm are they clipped?");
      return 1.0;
    }
    return *fields.noise_std / *fields.clip * (1.0 - 0x1p-52);
  }
  if (fields.noise_multiplier.empty()) {
    missing("noise_multiplier", "deviation of the noise over the clip");
    return 1.0;
  }
  if (fields.noise_multiplier.size() > 1) {
    superfluous("noise_multiplier", "has several values here");
  }
  return fields.noise_multiplier.front();
}

bool ReleaseReader::has_batches() const {
  return (fields.sample_rate && *fields.sample_rate < 1.0) || fields.batch_size;
}

std::optional<double> ReleaseReader::share() {
  if (fields.sample_rate) {
    if (fields.batch_size) {
      superfluous("batch_size", "is given beside sample_rate: keep one of them");
    }
    return fields.sample_rate;
  }
  if (fields.batch_size && fields.records) {
    if (*fields.batch_size > *fields.records) {
      superfluous("batch_size", "is larger than records");
    }
    return static_cast<double>(*fields.batch_size) / static_cast<double>(*fields.records);
  }
  if (fields.batch_size) {
    missing("records", "of the table: batch_size alone is no rate");
  } else {
    missing("sample_rate", "or batch_size and records");
  }
  return std::nullopt;
}

std::uint64_t ReleaseReader::whole(double count) {
  return static_cast<std::uint64_t>(std::min(count, 0x1p62));
}

std::uint64_t ReleaseReader::steps(double share) {
  if (fields.steps && fields.epochs) {
    superfluous("epochs", "is given beside steps: keep one of them");
    return 1;
  }
  if (wanted == Wanted::all_but_steps) {
    if (fields.steps || fields.epochs) {
      superfluous("steps", "is what is sought: leave it out");
    }
    return 1;
  }
  if (fields.steps) return *fields.steps;
  if (fields.epochs && share > 0.0) {
    // A whole number that rounding made a little larger is still that number.
    return whole(std::ceil(*fields.epochs / share * (1.0 - 1e-12)));
  }
  if (!fields.epochs) missing("steps", "the number of noisy steps; or epochs");
  return 1;
}

std::uint64_t ReleaseReader::batches() {
  if (wanted == Wanted::all_but_batches) return 1;
  if (!fields.batches_per_epoch) missing("batches_per_epoch", "that a record draws its own from");
  return fields.batches_per_epoch.value_or(1);
}

std::uint64_t ReleaseReader::epochs_of_batches(std::uint64_t batches) {
  if (wanted == Wanted::all_but_batches && fields.steps && !fields.epochs) {
    superfluous("steps", "is no number of epochs while batches_per_epoch is sought: give epochs");
  }
  if (wanted == Wanted::all_but_steps || fields.epochs || !fields.steps) return epochs();
  return *fields.steps / batches + (*fields.steps % batches == 0 ? 0 : 1);
}

std::uint64_t ReleaseReader::epochs() {
  if (wanted == Wanted::all_but_steps || fields.epochs) {
    if (fields.steps) superfluous("steps", "is given beside epochs: keep epochs");
    return fields.epochs ? whole(std::ceil(*fields.epochs)) : 1;
  }
  if (!fields.steps) {
    missing("epochs",
            "passes over the records; or steps with sample_rate, or with batch_size and records");
    return 1;
  }
  // With the last, smaller batch dropped an epoch has fewest steps: as many as whole batches.
  const std::optional<double> share = this->share();
  if (!share || !(*share > 0.0 && *share <= 1.0)) return 1;
  const auto in_epoch = whole(std::floor((1.0 + 1e-12) / *share));
  return *fields.steps / in_epoch + (*fields.steps % in_epoch == 0 ? 0 : 1);
}

}  // namespace sfumato
