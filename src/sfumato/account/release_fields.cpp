#include "sfumato/account/release_fields.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

#include "sfumato/account/accountant/clipping.hpp"
#include "sfumato/account/accountant/last_iterate.hpp"
#include "sfumato/core/error.hpp"

namespace sfumato {
namespace {

/// Everything that is wrong with some fields, said at once.
class Complaints {
 public:
  void missing(const char* key, const char* what) {
    add(key, fmt::format("{} is missing ({})", key, what));
  }
  void superfluous(const char* key, const std::string& why) {
    add(key, fmt::format("{} {}", key, why));
  }
  void raise() const {
    if (!texts_.empty()) {
      throw InvalidArgument(fmt::format("{}", fmt::join(texts_, "; ")), "", Where::key(key_));
    }
  }

 private:
  void add(const char* key, std::string text) {
    if (texts_.empty()) key_ = key;
    texts_.push_back(std::move(text));
  }
  std::string key_;
  std::vector<std::string> texts_;
};

constexpr const char* kSamplerHelp =
    "poisson: each record by a coin of its own in every step; shuffle: a permutation per epoch, as "
    "data loaders do; fixed_size: a "
    "fresh subset in every step; full: all records";

/// The noise of a mechanism, relative to the clip.
double multiplier_of(const ReleaseFields& fields, Wanted wanted, Complaints& complaints) {
  const bool layers = !fields.clips.empty() || !fields.noise_stds.empty();
  const int ways =
      (fields.noise_multiplier.empty() ? 0 : 1) + (fields.noise_std ? 1 : 0) + (layers ? 1 : 0);
  if (ways > 1) {
    complaints.superfluous(
        "noise_multiplier",
        "is given in two ways: keep one of noise_multiplier, noise_std and noise_stds");
    return 1.0;
  }
  if (wanted == Wanted::all_but_noise) {
    if (ways > 0) complaints.superfluous("noise_multiplier", "is what is sought: leave it out");
    return 1.0;
  }
  if (layers) {
    if (fields.clips.size() != fields.noise_stds.size()) {
      complaints.superfluous("noise_stds",
                             fmt::format("has {} numbers and clips {}: one each per layer",
                                         fields.noise_stds.size(), fields.clips.size()));
      return 1.0;
    }
    return sfumato::multiplier_of(contribution_of_layers(fields.clips, fields.noise_stds));
  }
  if (fields.noise_std) {
    if (!fields.clip) {
      complaints.missing(
          "clip", "noise_std is in the unit of the gradients: by which norm are they clipped?");
      return 1.0;
    }
    return *fields.noise_std / *fields.clip * (1.0 - 0x1p-52);
  }
  if (fields.noise_multiplier.empty()) {
    complaints.missing("noise_multiplier", "deviation of the noise over the clip");
    return 1.0;
  }
  if (fields.noise_multiplier.size() > 1) {
    complaints.superfluous("noise_multiplier", "has several values here");
  }
  return fields.noise_multiplier.front();
}

/// Whether the fields speak of samples.
bool has_batches(const ReleaseFields& fields) {
  return (fields.sample_rate && *fields.sample_rate < 1.0) || fields.batch_size;
}

/// The share of the records in a batch, from the rate or from two sizes.
std::optional<double> share_of(const ReleaseFields& fields, Complaints& complaints) {
  if (fields.sample_rate) {
    if (fields.batch_size) {
      complaints.superfluous("batch_size", "is given beside sample_rate: keep one of them");
    }
    return fields.sample_rate;
  }
  if (fields.batch_size && fields.records) {
    if (*fields.batch_size > *fields.records) {
      complaints.superfluous("batch_size", "is larger than records");
    }
    return static_cast<double>(*fields.batch_size) / static_cast<double>(*fields.records);
  }
  if (fields.batch_size) {
    complaints.missing("records", "of the table: batch_size alone is no rate");
  } else {
    complaints.missing("sample_rate", "or batch_size and records");
  }
  return std::nullopt;
}

std::uint64_t whole(double count) { return static_cast<std::uint64_t>(std::min(count, 0x1p62)); }

/// Steps as given, or of so many epochs, rounded up.
std::uint64_t steps_of(const ReleaseFields& fields, double share, Wanted wanted,
                       Complaints& complaints) {
  if (fields.steps && fields.epochs) {
    complaints.superfluous("epochs", "is given beside steps: keep one of them");
    return 1;
  }
  if (wanted == Wanted::all_but_steps) {
    if (fields.steps || fields.epochs) {
      complaints.superfluous("steps", "is what is sought: leave it out");
    }
    return 1;
  }
  if (fields.steps) return *fields.steps;
  if (fields.epochs && share > 0.0) {
    // A whole number that rounding made a little larger is still that number.
    return whole(std::ceil(*fields.epochs / share * (1.0 - 1e-12)));
  }
  if (!fields.epochs) complaints.missing("steps", "the number of noisy steps; or epochs");
  return 1;
}

/// How often shuffled training goes through the records.
std::uint64_t epochs_of(const ReleaseFields& fields, Wanted wanted, Complaints& complaints) {
  if (wanted == Wanted::all_but_steps || fields.epochs) {
    if (fields.steps) complaints.superfluous("steps", "is given beside epochs: keep epochs");
    return fields.epochs ? whole(std::ceil(*fields.epochs)) : 1;
  }
  if (!fields.steps) {
    complaints.missing(
        "epochs",
        "passes over the records; or steps with sample_rate, or with batch_size and records");
    return 1;
  }
  // With the last, smaller batch dropped an epoch has fewest steps: as many as whole batches.
  const std::optional<double> share = share_of(fields, complaints);
  if (!share || !(*share > 0.0 && *share <= 1.0)) return 1;
  const auto in_epoch = whole(std::floor((1.0 + 1e-12) / *share));
  return *fields.steps / in_epoch + (*fields.steps % in_epoch == 0 ? 0 : 1);
}

void fill_gaussian(const ReleaseFields& fields, Wanted wanted, PrivateRelease& release,
                   Complaints& complaints) {
  if (fields.normalise == Normalisation::actual) {
    complaints.superfluous("normalise",
                           "= \"actual\" has no guarantee: a sum divided by the actual batch size "
                           "shows that size, which one record "
                           "changes. Divide by the expected batch size");
  }
  release.mechanism = GaussianNoise{multiplier_of(fields, wanted, complaints)};
  if (!fields.sampler && has_batches(fields)) {
    complaints.missing("sampler", kSamplerHelp);
    // What else is missing depends on it little: go on as for Poisson.
  }
  release.sampler = fields.sampler.value_or(has_batches(fields) ? Sampler::poisson : Sampler::full);
  release.batch_cap = fields.batch_cap;
  switch (release.sampler) {
    case Sampler::full:
      if (has_batches(fields)) {
        complaints.superfluous("sampler", "= \"full\" contradicts sample_rate or batch_size");
      }
      release.steps = steps_of(fields, 1.0, wanted, complaints);
      return;
    case Sampler::poisson:
      release.sample_rate = share_of(fields, complaints).value_or(1.0);
      release.steps = steps_of(fields, release.sample_rate, wanted, complaints);
      if (fields.batch_cap) {
        if (!fields.records) complaints.missing("records", "batch_cap needs them");
        release.records = fields.records.value_or(1);
      }
      return;
    case Sampler::fixed_size:
      if (fields.sample_rate) {
        complaints.superfluous(
            "sample_rate", "does not apply to batches of fixed size: give batch_size and records");
      }
      if (!fields.batch_size) complaints.missing("batch_size", "of each step");
      if (!fields.records) complaints.missing("records", "of the table");
      release.records = fields.records.value_or(1);
      release.batch_size = fields.batch_size.value_or(1);
      release.steps = steps_of(
          fields, static_cast<double>(release.batch_size) / static_cast<double>(release.records),
          wanted, complaints);
      return;
    case Sampler::shuffle: release.steps = epochs_of(fields, wanted, complaints); return;
  }
}

double last_mu(const ReleaseFields& fields, Complaints& complaints) {
  if (fields.mu) {
    if (fields.sensitivity || fields.lipschitz || fields.diameter) {
      complaints.superfluous("mu", "is given beside what it would follow from: keep one of them");
    }
    return *fields.mu;
  }
  if (!fields.sensitivity)
    complaints.missing("sensitivity", "what a step moves at most, in deviations of its noise");
  if (!fields.lipschitz)
    complaints.missing("lipschitz", "a proven constant of both maps, at most 1");
  if (fields.batches && !fields.epochs) complaints.missing("epochs", "passes over the batches");
  if (!fields.batches && !fields.steps) complaints.missing("steps", "of noisy gradient descent");
  complaints.raise();
  if (fields.batches) {
    if (fields.diameter)
      complaints.superfluous("diameter", "and batches have no bound together: leave one out");
    return cyclic_last_iterate_mu(*fields.sensitivity, *fields.lipschitz, *fields.batches,
                                  whole(std::ceil(*fields.epochs)))
        .value;
  }
  if (fields.diameter) {
    return projected_last_iterate_mu(*fields.sensitivity, *fields.lipschitz, *fields.steps,
                                     *fields.diameter)
        .value;
  }
  return last_iterate_mu(*fields.sensitivity, *fields.lipschitz, *fields.steps).value;
}

}  // namespace

std::string_view name(MechanismKind kind) {
  switch (kind) {
    case MechanismKind::gaussian: return "gaussian";
    case MechanismKind::laplace: return "laplace";
    case MechanismKind::known: return "known";
    case MechanismKind::last_iterate: return "last_iterate";
  }
  throw InternalError("a mechanism without a name");
}

std::string_view name(Normalisation normalisation) {
  return normalisation == Normalisation::expected ? "expected" : "actual";
}

PrivateRelease release_of(const ReleaseFields& fields, Wanted wanted) {
  Complaints complaints;
  PrivateRelease release{GaussianNoise{1.0}};
  switch (fields.mechanism) {
    case MechanismKind::gaussian: fill_gaussian(fields, wanted, release, complaints); break;
    case MechanismKind::laplace:
      release.mechanism = LaplaceNoise{multiplier_of(fields, wanted, complaints)};
      release.sampler = fields.sampler.value_or(Sampler::full);
      release.steps = steps_of(fields, 1.0, wanted, complaints);
      break;
    case MechanismKind::known:
      if (!fields.step_epsilon) complaints.missing("step_epsilon", "of one step");
      if (!fields.step_delta) complaints.missing("step_delta", "of one step; 0 for pure privacy");
      release.sampler = fields.sampler.value_or(Sampler::full);
      release.steps = steps_of(fields, 1.0, wanted, complaints);
      complaints.raise();
      release.mechanism = KnownStep{Epsilon(*fields.step_epsilon), Delta(*fields.step_delta)};
      break;
    case MechanismKind::last_iterate:
      release.mechanism = HiddenIterates{last_mu(fields, complaints)};
      // mu given: how often such a model was released.
      release.steps = fields.mu ? fields.steps.value_or(1) : 1;
      break;
  }
  complaints.raise();
  return release;
}

ReleaseFields fields_of(const PrivateRelease& release) {
  ReleaseFields fields;
  if (const auto* noise = std::get_if<GaussianNoise>(&release.mechanism)) {
    fields.noise_multiplier = {noise->noise_multiplier};
  } else if (const auto* laplace = std::get_if<LaplaceNoise>(&release.mechanism)) {
    fields.mechanism = MechanismKind::laplace;
    fields.noise_multiplier = {laplace->noise_multiplier};
  } else if (const auto* known = std::get_if<KnownStep>(&release.mechanism)) {
    fields.mechanism = MechanismKind::known;
    fields.step_epsilon = known->epsilon.nats();
    fields.step_delta = known->delta.probability();
  } else {
    fields.mechanism = MechanismKind::last_iterate;
    fields.mu = std::get<HiddenIterates>(release.mechanism).mu;
  }
  fields.sampler = release.sampler;
  if (release.sampler == Sampler::shuffle) {
    fields.epochs = static_cast<double>(release.steps);
  } else {
    fields.steps = release.steps;
  }
  if (release.sampler == Sampler::poisson) fields.sample_rate = release.sample_rate;
  if (release.records > 0) fields.records = release.records;
  if (release.sampler == Sampler::fixed_size) fields.batch_size = release.batch_size;
  fields.batch_cap = release.batch_cap;
  return fields;
}

}  // namespace sfumato
