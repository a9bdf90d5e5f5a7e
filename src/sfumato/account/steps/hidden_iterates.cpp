#include "sfumato/account/steps/hidden_iterates.hpp"

#include <fmt/format.h>

#include <cmath>

#include "sfumato/account/accountant/last_iterate.hpp"
#include "sfumato/account/contour/total_loss.hpp"
#include "sfumato/core/error.hpp"

namespace sfumato {
namespace {

double last_mu(ReleaseReader& reader) {
  const ReleaseFields& fields = reader.fields;
  if (fields.mu) {
    if (fields.sensitivity || fields.lipschitz || fields.diameter) {
      reader.superfluous("mu", "is given beside what it would follow from: keep one of them");
    }
    return *fields.mu;
  }
  if (!fields.sensitivity)
    reader.missing("sensitivity", "what a step moves at most, in deviations of its noise");
  if (!fields.lipschitz) reader.missing("lipschitz", "a proven constant of both maps, at most 1");
  if (fields.batches && !fields.epochs) reader.missing("epochs", "passes over the batches");
  if (!fields.batches && !fields.steps) reader.missing("steps", "of noisy gradient descent");
  reader.raise();
  if (fields.batches) {
    if (fields.diameter)
      reader.superfluous("diameter", "and batches have no bound together: leave one out");
    return cyclic_last_iterate_mu(*fields.sensitivity, *fields.lipschitz, *fields.batches,
                                  ReleaseReader::whole(std::ceil(*fields.epochs)))
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

void MechanismRules<HiddenIterates>::require(const HiddenIterates& last) {
  if (std::isfinite(last.mu) && last.mu >= 0.0) return;
  throw InvalidArgument(fmt::format("mu = {} is not a finite number >= 0", last.mu),
                        "Pass the mu of last_iterate_mu()", Where::key("mu"));
}

std::string MechanismRules<HiddenIterates>::describe(const HiddenIterates& last,
                                                     const PrivateRelease& release) {
  return release.steps == 1 ? fmt::format("noisy gradient descent, last iterate, mu {}", last.mu)
                            : fmt::format("noisy gradient descent, last iterate, mu {}, {} times",
                                          last.mu, grouped(release.steps));
}

void MechanismRules<HiddenIterates>::compose(const HiddenIterates& last,
                                             const ReleaseSetting& setting, TotalLoss& loss) {
  const double mu = last.mu * setting.group();
  loss.mu_squared += setting.steps() * mu * mu;
}

PrivateRelease MechanismRules<HiddenIterates>::read(ReleaseReader& reader) {
  PrivateRelease release{HiddenIterates{last_mu(reader)}};
  // mu given: how often such a model was released.
  release.steps = reader.fields.mu ? reader.fields.steps.value_or(1) : 1;
  return release;
}

}  // namespace sfumato
