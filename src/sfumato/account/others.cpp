#include "sfumato/account/others.hpp"

#include <cmath>

namespace sfumato {
namespace {

/// The run alone under Poisson sampling with another rate and number of steps; add_remove neighbours, as those tools have it.
Claimed<Epsilon> poisson_epsilon(double multiplier, double rate, std::uint64_t steps, Delta delta) {
  Accountant accountant(NeighbouringRelation::add_remove);
  accountant.compose({GaussianNoise{multiplier}, Sampler::poisson, rate, steps});
  return map(accountant.epsilon(delta).upper, [](double nats) { return Epsilon(nats); });
}

std::uint64_t whole(double count) { return static_cast<std::uint64_t>(std::min(count, 0x1p53)); }

}  // namespace

std::vector<OtherAccount> other_accounts(const AccountQuestion& question,
                                         const Accountant& accountant, Delta delta) {
  std::vector<OtherAccount> others;
  const ReleaseFields& run = question.run;
  const std::vector<PrivateRelease>& list = accountant.releases().list;
  if (list.size() != 1) return others;
  const PrivateRelease& release = list.front();
  const auto* noise = std::get_if<GaussianNoise>(&release.mechanism);
  if (noise == nullptr || noise->noise_multiplier == 0.0) return others;
  const double sigma = noise->noise_multiplier;
  if (run.batch_size && run.records && *run.batch_size <= *run.records &&
      release.sampler != Sampler::full) {
    const auto n = static_cast<double>(*run.records), b = static_cast<double>(*run.batch_size);
    const double in_epoch = std::ceil(n / b);
    const double epochs =
        run.epochs ? *run.epochs : static_cast<double>(run.steps.value_or(0)) / in_epoch;
    if (epochs > 0.0) {
      const double rate = 1.0 / in_epoch;
      const std::uint64_t steps = run.steps ? *run.steps : whole(std::ceil(epochs) * in_epoch);
      // For shuffled batches TF-Privacy's line below says what is wrong with both.
      if (release.sampler == Sampler::poisson &&
          (rate != release.rate() || steps != release.steps)) {
        others.push_back({"Opacus", rate, steps, poisson_epsilon(sigma, rate, steps, delta),
                          "takes 1 / (batches per epoch) for the rate instead of batch / records"});
      }
      if (release.sampler == Sampler::shuffle) {
        const std::uint64_t tf_steps = run.steps ? *run.steps : whole(std::floor(epochs * n / b));
        others.push_back({"TF-Privacy, Opacus", b / n, tf_steps,
                          poisson_epsilon(sigma, b / n, tf_steps, delta),
                          "would be right for Poisson sampling: not proven for shuffled batches"});
      }
    }
  }
  const bool shuffled_rate = release.sampler == Sampler::shuffle && others.empty() &&
                             run.sample_rate && *run.sample_rate > 0.0;
  if (shuffled_rate) {
    const std::uint64_t steps =
        run.steps ? *run.steps : whole(std::ceil(run.epochs.value_or(1.0) / *run.sample_rate));
    others.push_back({"Poisson sampling", *run.sample_rate, steps,
                      poisson_epsilon(sigma, *run.sample_rate, steps, delta),
                      "would be right for Poisson sampling: not proven for shuffled batches"});
  }
  return others;
}

}  // namespace sfumato
