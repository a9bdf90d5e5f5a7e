#include "sfumato/account/steps/gaussian_noise.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sfumato/account/contour/total_loss.hpp"
#include "sfumato/account/steps/allocated_gaussian.hpp"
#include "sfumato/account/steps/truncated_poisson.hpp"

namespace sfumato {
namespace {

constexpr const char* kSamplerHelp =
    "poisson: each record independently in every step; allocate: each record draws its batch of "
    "the "
    "epoch by itself; shuffle: a permutation per epoch, as data loaders do; fixed_size: a "
    "fresh subset in every step; full: all records";

/// The probability that a step samples any of a group, rounded up.
double any_sampled(double q, const ReleaseSetting& setting) {
  if (setting.group_size == 1) return q;
  return std::min(1.0, -std::expm1(setting.group() * std::log1p(-q)) * (1.0 + 1e-15));
}

void add_normal(double mu, double k, TotalLoss& loss) { loss.mu_squared += k * mu * mu; }

/// At least the probability that a batch which has the record is cut; 0 without a cap.
double overflow_of(const PrivateRelease& release) {
  return release.batch_cap
             ? overflow_probability(release.records, *release.batch_cap, release.sample_rate)
             : 0.0;
}

/// Steps that all but surely cut their batch are those of the second pair (Spec §19.8).
void add_truncated(const TruncatedPoisson& step, TotalLoss& loss) {
  constexpr double kSurely = 1.0 - 1e-9;
  if (step.overflow < kSurely) {
    loss.steps.push_back(step);
  } else {
    std::visit([&](const auto& cut) { loss.steps.push_back(cut); }, step.cut());
  }
}

/// A record in several batches of an epoch is dominated by one in one batch each of as many blocks of them (Spec §28.3).
void add_allocated(const PrivateRelease& release, double m, StepDirection direction,
                   TotalLoss& loss) {
  const auto k = static_cast<double>(release.steps);
  const std::uint64_t size = release.batches / release.turns,
                      longer = release.batches % release.turns;
  const auto add = [&](std::uint64_t t, std::uint64_t blocks) {
    if (blocks == 0) return;
    const double epochs = k * static_cast<double>(blocks);
    if (t == 1) {
      add_normal(m, epochs, loss);
    } else {
      loss.steps.push_back(AllocatedGaussian{static_cast<double>(t), m, epochs, direction});
    }
  };
  add(size, release.turns - longer);
  add(size + 1, longer);
}

}  // namespace

std::string MechanismRules<GaussianNoise>::describe(const GaussianNoise& noise,
                                                    const PrivateRelease& release) {
  std::string text =
      fmt::format("Gaussian noise, noise multiplier {}, {}, {}", noise.noise_multiplier,
                  sampling_text(release), count_text(release));
  if (release.batch_cap) {
    text += fmt::format(", at most {} of {} records a batch", grouped(*release.batch_cap),
                        grouped(release.records));
  }
  return text;
}

void MechanismRules<GaussianNoise>::compose(const GaussianNoise& noise,
                                            const ReleaseSetting& setting, TotalLoss& loss) {
  const PrivateRelease& release = setting.release;
  const double k = setting.steps(), q = release.rate();
  const StepDirection direction = setting.direction;
  const double m = 1.0 / noise.noise_multiplier, overflow = overflow_of(release);
  // A record that is cut or kept makes room for another or takes its place.
  const bool exchanges = setting.relation != NeighbouringRelation::add_remove;
  if (noise.noise_multiplier == 0.0) {
    add_noiseless(loss, any_sampled(q, setting), k,
                  overflow > 0.0 && exchanges ? StepDirection::replace : direction);
  } else if (release.sampler == Sampler::allocate) {
    add_allocated(release, m, direction, loss);
  } else if (q == 1.0 && overflow > 0.0) {
    add_normal(2.0 * m, k, loss);  // two sums of as many records, one of which differs
  } else if (release.sampler == Sampler::full || release.sampler == Sampler::shuffle || q == 1.0) {
    add_normal(setting.reach() * m, k,
               loss);  // shuffle: k epochs, each of which sees a record once
  } else if (release.sampler == Sampler::fixed_size) {
    loss.steps.push_back(TwoSidedGaussian{q, 2.0 * m, k});
  } else if (overflow > 0.0) {
    add_truncated({q, m, overflow, k, direction, exchanges}, loss);
  } else if (setting.group_size == 1) {
    loss.steps.push_back(SampledGaussian{q, m, k, direction});
  } else if (direction == StepDirection::replace || setting.group_size > kLargestExactGroup) {
    // All of a group that are sampled are exchanged or removed, none if none is: one record that contributes as much (Spec §19.5).
    const double any = any_sampled(q, setting), all = setting.group() * m;
    if (any < 1.0) {
      loss.steps.push_back(SampledGaussian{any, all, k, direction});
    } else {
      add_normal(direction == StepDirection::replace ? 2.0 * all : all, k, loss);
    }
  } else {
    loss.steps.push_back(GroupGaussian{q, m, static_cast<int>(setting.group_size), k, direction});
  }
}

std::optional<double> MechanismRules<GaussianNoise>::gdp_mu(const GaussianNoise& noise,
                                                            const ReleaseSetting& setting) {
  if (setting.release.batch_cap) return std::nullopt;
  const double turns = std::sqrt(static_cast<double>(setting.release.turns));
  return setting.release.rate() == 0.0 ? 0.0 : setting.reach() * turns / noise.noise_multiplier;
}

std::optional<double> MechanismRules<GaussianNoise>::clt_variance(const GaussianNoise& noise,
                                                                  const ReleaseSetting& setting) {
  const PrivateRelease& release = setting.release;
  if (noise.noise_multiplier == 0.0 || setting.group_size > 1 || release.batch_cap ||
      release.sampler == Sampler::fixed_size || release.sampler == Sampler::allocate) {
    return std::nullopt;
  }
  const bool replace = setting.relation == NeighbouringRelation::replace_one;
  const double m = 1.0 / noise.noise_multiplier, q = release.rate(), k = setting.steps();
  if (q == 1.0) return k * m * m * (replace ? 4.0 : 1.0);
  if (replace) return std::nullopt;
  return k * q * q * std::expm1(m * m);
}

PrivateRelease MechanismRules<GaussianNoise>::read(ReleaseReader& reader) {
  const ReleaseFields& fields = reader.fields;
  PrivateRelease release{GaussianNoise{1.0}};
  if (fields.normaliser == Normaliser::batch) {
    reader.superfluous(
        "normaliser",
        "= \"batch\" has no guarantee: a sum divided by the actual batch size "
        "shows that size, which one record changes. Divide by the expected batch size");
  } else if (fields.normaliser != Normaliser::declared) {
    reader.superfluous("normaliser",
                       fmt::format("= \"{}\" is accounted for one run by itself, without other "
                                   "releases. Divide by a declared constant",
                                   name(fields.normaliser)));
  }
  release.mechanism = GaussianNoise{reader.multiplier()};
  if (!fields.sampler && reader.has_batches()) {
    reader.missing("sampler", kSamplerHelp);
    // Other fields that are missing depend on it little: go on as for Poisson.
  }
  release.sampler =
      fields.sampler.value_or(reader.has_batches() ? Sampler::poisson : Sampler::full);
  release.batch_cap = fields.batch_cap;
  switch (release.sampler) {
    case Sampler::full:
      if (reader.has_batches()) {
        reader.superfluous("sampler", "= \"full\" contradicts sample_rate or batch_size");
      }
      release.steps = reader.steps(1.0);
      break;
    case Sampler::poisson:
      release.sample_rate = reader.share().value_or(1.0);
      release.steps = reader.steps(release.sample_rate);
      if (fields.batch_cap) {
        if (!fields.records) reader.missing("records", "batch_cap needs them");
        release.records = fields.records.value_or(1);
      }
      break;
    case Sampler::fixed_size:
      if (fields.sample_rate) {
        reader.superfluous("sample_rate",
                           "does not apply to batches of fixed size: give batch_size and records");
      }
      if (!fields.batch_size) reader.missing("batch_size", "of each step");
      if (!fields.records) reader.missing("records", "of the table");
      release.records = fields.records.value_or(1);
      release.batch_size = fields.batch_size.value_or(1);
      release.steps = reader.steps(static_cast<double>(release.batch_size) /
                                   static_cast<double>(release.records));
      break;
    case Sampler::shuffle: release.steps = reader.epochs(); break;
    case Sampler::allocate:
      if (fields.sample_rate || fields.batch_size) {
        reader.superfluous(fields.sample_rate ? "sample_rate" : "batch_size",
                           "does not apply to random allocation: batches differ in size, and "
                           "batches_per_epoch says how many there are");
      }
      release.batches = reader.batches();
      release.turns = fields.batches_per_record.value_or(1);
      release.steps = reader.epochs_of_batches(release.batches);
      break;
  }
  return release;
}

}  // namespace sfumato
