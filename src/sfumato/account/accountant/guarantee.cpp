#include "sfumato/account/accountant/guarantee.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "sfumato/account/steps/step.hpp"
#include "sfumato/core/error.hpp"
#include "sfumato/report/number.hpp"

namespace sfumato {
namespace {

/// Upwards: a statement must not promise more than is proven.
std::string epsilon_text(double epsilon) {
  constexpr int kDigits = 4;
  return fmt::format("{:.{}g}", rounded(epsilon, Rounding::up, kDigits), kDigits);
}

bool any_sampler(const PrivateReleases& releases, Sampler sampler) {
  return std::any_of(releases.list.begin(), releases.list.end(),
                     [&](const PrivateRelease& release) { return release.sampler == sampler; });
}

}  // namespace

Guarantee::Guarantee(Claimed<Epsilon> epsilon, Delta delta, PrivateReleases releases)
    : epsilon_(std::move(epsilon)), delta_(delta), releases_(std::move(releases)) {}

std::string describe(const PrivateRelease& release) {
  return with_rules(release.mechanism,
                    [&](auto rules, const auto& m) { return rules.describe(m, release); });
}

std::string describe_neighbours(const PrivateReleases& releases) {
  const bool one = releases.group_size == 1;
  const std::string records =
      one ? "differ in one record" : fmt::format("differ in up to {} records", releases.group_size);
  switch (releases.relation) {
    case NeighbouringRelation::add_remove: return records + ", which one of them lacks";
    case NeighbouringRelation::zero_out:
      return records + (one ? ", which is null in one of them" : ", which are null in one of them");
    case NeighbouringRelation::replace_one:
      return records + (one ? ", replaced by another" : ", replaced by others");
  }
  throw InternalError("a neighbouring relation without a text");
}

const std::string& constant_normaliser_condition() {
  static const std::string text = "sums are divided by a constant, never by the actual batch size";
  return text;
}

std::vector<std::string> conditions_of(const PrivateReleases& releases) {
  std::vector<std::string> conditions;
  const auto adds_noise = [](const PrivateRelease& release) {
    return with_rules(release.mechanism, [](auto rules, const auto&) { return rules.kAddsNoise; });
  };
  if (std::any_of(releases.list.begin(), releases.list.end(), adds_noise)) {
    conditions.push_back("noise is added in every step, also when a batch is empty");
    conditions.push_back(
        "each record's contribution is clipped by itself, as the noise multiplier supposes, and "
        "depends on that record and earlier "
        "releases alone (no batch statistics)");
    conditions.push_back(constant_normaliser_condition());
    conditions.push_back("the noise is fresh, from a secure generator, and not released");
  }
  if (any_sampler(releases, Sampler::poisson)) {
    conditions.push_back(
        "each step samples every record independently at the stated rate (not shuffled batches)");
  }
  if (std::any_of(releases.list.begin(), releases.list.end(),
                  [](const PrivateRelease& release) { return release.batch_cap.has_value(); })) {
    conditions.push_back(
        "of a batch above its cap a uniformly random subset is kept; there are at most the stated "
        "number of records");
  }
  if (any_sampler(releases, Sampler::fixed_size)) {
    conditions.push_back("each step draws a fresh uniform subset; the number of records is public");
  }
  if (any_sampler(releases, Sampler::shuffle)) {
    conditions.push_back("no record is used twice in an epoch");
  }
  if (any_sampler(releases, Sampler::allocate)) {
    conditions.push_back(
        "in every epoch each record draws its batch independently of all others, from fresh secret "
        "randomness (not a permutation, which shuffling is)");
    conditions.push_back("batches, an empty one too, are neither skipped nor cut for their size");
    conditions.push_back(
        "the numbers of batches and epochs are fixed in advance; an epoch that was begun counts");
  }
  if (any_sampler(releases, Sampler::poisson) || any_sampler(releases, Sampler::fixed_size) ||
      any_sampler(releases, Sampler::allocate)) {
    conditions.push_back("which records were sampled stays secret");
  }
  // Those of every kind of mechanism once, in the order of the variant.
  std::map<std::size_t, std::vector<std::string>> own;
  for (const PrivateRelease& release : releases.list) {
    own[release.mechanism.index()] =
        with_rules(release.mechanism, [](auto rules, const auto&) { return rules.conditions(); });
  }
  for (const auto& [kind, sentences] : own) {
    conditions.insert(conditions.end(), sentences.begin(), sentences.end());
  }
  for (const std::string& condition : releases.rests_on) {
    if (std::find(conditions.begin(), conditions.end(), condition) == conditions.end()) {
      conditions.push_back(condition);
    }
  }
  return conditions;
}

std::vector<std::string> assumptions_of(const PrivateReleases& releases) {
  std::vector<std::string> all = {fmt::format("{}: two data sets are neighbours if they {}",
                                              name(releases.relation),
                                              describe_neighbours(releases))};
  for (const PrivateRelease& release : releases.list) {
    all.push_back(fmt::format("released: {}", describe(release)));
  }
  for (std::string& condition : conditions_of(releases)) all.push_back(std::move(condition));
  return all;
}

std::string PrivacyStatement::markdown() const {
  std::string text = fmt::format("## Privacy\n\n{}\n\n", claim);
  for (const Item& item : items) {
    text += fmt::format("- **{}:**{}{}\n", item.heading, item.text.empty() ? "" : " ", item.text);
    for (const std::string& entry : item.list) text += fmt::format("  - {}\n", entry);
  }
  return text;
}

StatementFacts facts_of(const Guarantee& guarantee, NoiseArithmetic arithmetic,
                        const std::vector<std::string>& further) {
  const PrivateReleases& releases = guarantee.releases();
  StatementFacts facts{guarantee.epsilon().nats(),
                       guarantee.delta().probability(),
                       releases.relation,
                       releases.group_size,
                       {},
                       further,
                       guarantee.claimed_epsilon().method,
                       arithmetic,
                       {}};
  for (const PrivateRelease& release : releases.list) facts.released.push_back(describe(release));
  for (std::string& own : conditions_of(releases)) facts.conditions.push_back(std::move(own));
  return facts;
}

PrivacyStatement statement_of(const StatementFacts& facts) {
  const bool one = facts.group_size == 1;
  PrivacyStatement statement{
      facts,
      fmt::format("Training satisfies ({}, {})-differential privacy.", epsilon_text(facts.epsilon),
                  facts.delta),
      {{"What is protected",
        fmt::format(
            "{} of the training data. Two data sets are neighbours if they {} (`{}`).",
            one ? "each single record" : fmt::format("any {} records together", facts.group_size),
            describe_neighbours({facts.relation, facts.group_size}), name(facts.relation)),
        {}},
       {"From whom",
        "anyone who sees everything listed below and knows all other records, the code and the "
        "settings, but not the noise.",
        {}},
       {"What was released", "", facts.released},
       {"It rests on", "", facts.conditions, true},
       {"How it was computed",
        fmt::format("{}; numerical error included, rounded up.", facts.method),
        {}}}};
  if (facts.gdp) {
    statement.items.push_back(
        {"One number for the whole curve",
         fmt::format("mu <= {} of Gaussian privacy{}.", epsilon_text(facts.gdp->mu_upper),
                     facts.gdp->outside > 0.0
                         ? fmt::format(" outside an event of probability {} (regret {})",
                                       facts.gdp->outside, epsilon_text(facts.gdp->regret))
                         : ""),
         {}});
  }
  if (!facts.tuning.empty()) statement.items.push_back({"Tuning", facts.tuning, {}});
  statement.items.push_back(
      {"Not covered",
       fmt::format("other releases about the same records ({}evaluation, other models), {}, errors "
                   "of the implementation, people with more than {} in the data.",
                   facts.tuning.empty() ? "tuning, " : "",
                   facts.arithmetic == NoiseArithmetic::exact
                       ? "the time that the computation takes (sums and noise are exact, in "
                         "integers)"
                       : "floating-point side channels",
                   one ? "one record" : fmt::format("{} records", facts.group_size)),
       {}});
  if (!facts.digest.empty()) {
    statement.items.push_back({"Account", fmt::format("SHA-256 {}.", facts.digest), {}});
  }
  return statement;
}

PrivacyStatement statement_of(const Guarantee& guarantee, NoiseArithmetic arithmetic,
                              const std::vector<std::string>& further) {
  return statement_of(facts_of(guarantee, arithmetic, further));
}

std::string privacy_statement(const Guarantee& guarantee, NoiseArithmetic arithmetic) {
  return statement_of(guarantee, arithmetic).markdown();
}

}  // namespace sfumato
