#include "sfumato/account/accountant/release_fields.hpp"

#include <array>
#include <utility>
#include <variant>

#include "sfumato/account/steps/step.hpp"

namespace sfumato {
namespace {

/// The names and readers of all mechanisms, in the order of the variant.
struct MechanismEntry {
  const char* name;
  PrivateRelease (*read)(ReleaseReader&);
};
template <std::size_t... I>
constexpr std::array<MechanismEntry, sizeof...(I)> entries_of(std::index_sequence<I...>) {
  return {{{MechanismRules<std::variant_alternative_t<I, Mechanism>>::kName,
            &MechanismRules<std::variant_alternative_t<I, Mechanism>>::read}...}};
}
constexpr auto kMechanisms = entries_of(std::make_index_sequence<std::variant_size_v<Mechanism>>{});

}  // namespace

std::string_view name(MechanismKind kind) {
  return kMechanisms.at(static_cast<std::size_t>(kind)).name;
}

std::vector<MechanismKind> mechanism_kinds() {
  std::vector<MechanismKind> kinds;
  for (std::size_t i = 0; i < kMechanisms.size(); ++i) kinds.push_back(MechanismKind{i});
  return kinds;
}

std::string_view name(Normaliser normaliser) {
  switch (normaliser) {
    case Normaliser::declared: return "declared";
    case Normaliser::int_qn: return "int_qn";
    case Normaliser::n: return "n";
    case Normaliser::batch: return "batch";
  }
  throw InternalError("a normaliser without a name");
}

PrivateRelease release_of(const ReleaseFields& fields, Wanted wanted) {
  ReleaseReader reader(fields, wanted);
  PrivateRelease release = kMechanisms.at(static_cast<std::size_t>(fields.mechanism)).read(reader);
  reader.raise();
  return release;
}

ReleaseFields fields_of(const PrivateRelease& release) {
  ReleaseFields fields;
  fields.mechanism = MechanismKind{release.mechanism.index()};
  with_rules(release.mechanism, [&](auto rules, const auto& m) { rules.write(m, fields); });
  fields.sampler = release.sampler;
  if (counts_epochs(release.sampler)) {
    fields.epochs = static_cast<double>(release.steps);
  } else {
    fields.steps = release.steps;
  }
  if (release.sampler == Sampler::poisson) fields.sample_rate = release.sample_rate;
  if (release.records > 0) fields.records = release.records;
  if (release.sampler == Sampler::fixed_size) fields.batch_size = release.batch_size;
  fields.batch_cap = release.batch_cap;
  if (release.sampler == Sampler::allocate) {
    fields.batches_per_epoch = release.batches;
    if (release.turns != 1) fields.batches_per_record = release.turns;
  }
  return fields;
}

}  // namespace sfumato
