#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sfumato/account/accountant/gdp_summary.hpp"
#include "sfumato/account/accountant/release.hpp"
#include "sfumato/core/claim.hpp"
#include "sfumato/core/units.hpp"

namespace sfumato {

/// (epsilon, delta)-differential privacy: a statement about **every** pair of neighbouring data sets. Only an Accountant makes one, from
/// the neighbouring relation and the list of releases; what has no proof never becomes one. (A Risk speaks of one pair.)
class Guarantee {
 public:
  [[nodiscard]] Epsilon epsilon() const { return epsilon_.value; }
  [[nodiscard]] const Claimed<Epsilon>& claimed_epsilon() const {
    return epsilon_;
  }  ///< an upper bound
  [[nodiscard]] Delta delta() const { return delta_; }
  [[nodiscard]] const PrivateReleases& releases() const { return releases_; }

 private:
  friend class Accountant;
  Guarantee(Claimed<Epsilon> epsilon, Delta delta, PrivateReleases releases);

  Claimed<Epsilon> epsilon_;
  Delta delta_;
  PrivateReleases releases_;
};

/// What training must do for the guarantee to be true of it, one sentence each (Spec §17.1 (5)).
[[nodiscard]] std::vector<std::string> conditions_of(const PrivateReleases& releases);

/// "Poisson-sampled Gaussian noise: 14,062 steps, sample rate 0.00427, noise multiplier 1.1"
[[nodiscard]] std::string describe(const PrivateRelease& release);

/// "differ in one record, which one of them lacks"
[[nodiscard]] std::string describe_neighbours(const PrivateReleases& releases);

/// The condition of all noisy sums that a normaliser which depends on the records does not meet (Spec §29).
[[nodiscard]] const std::string& constant_normaliser_condition();

/// All that a number of an accountant speaks of and rests on: the neighbours, the releases, the conditions.
[[nodiscard]] std::vector<std::string> assumptions_of(const PrivateReleases& releases);

/// How noise was added: as floating-point numbers, whose low bits and rounding are outside the guarantee, or exactly, to integer sums.
enum class NoiseArithmetic { floating_point, exact };

/// What a statement says, before it takes a form.
struct StatementFacts {
  double epsilon, delta;
  NeighbouringRelation relation;
  std::uint64_t group_size;
  std::vector<std::string> released, conditions;
  std::string method;
  NoiseArithmetic arithmetic;
  std::string tuning;  ///< how the cost of tuning is in it; empty: it is not
  std::optional<GdpSummary> gdp = {};
  std::string digest = {};  ///< SHA-256 of the account as a file; empty: none was made
};

/// A statement for a model card: what is protected and from whom, the numbers, what it rests on, what it does not cover.
struct PrivacyStatement {
  struct Item {
    std::string heading;            ///< "What is protected"
    std::string text;               ///< a sentence, or
    std::vector<std::string> list;  ///< what follows the heading, without full stops
    bool is_condition = false;      ///< the guarantee rests on each of the list
  };
  StatementFacts facts;
  std::string claim;
  std::vector<Item> items;

  [[nodiscard]] std::string markdown() const;
};

/// The statement of facts; its words are made here alone.
[[nodiscard]] PrivacyStatement statement_of(const StatementFacts& facts);

/// Of a guarantee. `further` are conditions beside those of its releases.
[[nodiscard]] StatementFacts facts_of(const Guarantee& guarantee, NoiseArithmetic arithmetic,
                                      const std::vector<std::string>& further = {});

/// `further` are conditions beside those of the releases.
[[nodiscard]] PrivacyStatement statement_of(const Guarantee& guarantee, NoiseArithmetic arithmetic,
                                            const std::vector<std::string>& further = {});

/// The same as Markdown. Noise is taken to be in floating point unless it is said to be exact.
[[nodiscard]] std::string privacy_statement(
    const Guarantee& guarantee, NoiseArithmetic arithmetic = NoiseArithmetic::floating_point);

}  // namespace sfumato
