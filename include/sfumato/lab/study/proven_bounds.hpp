#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sfumato/account/accountant/accountant.hpp"
#include "sfumato/core/claim.hpp"
#include "sfumato/core/units.hpp"
#include "sfumato/risk/risk.hpp"

namespace sfumato::lab {

struct LedgerIdentity;
struct Study;

/// What is proven of the weights after the last step of one pair.
struct ProvenRisk {
  std::optional<Risk> risk;  ///< exact where the distributions are known, else an upper bound
  std::optional<Claimed<double>> mu;  ///< of Gaussian differential privacy, where there is one
  std::string reason;                 ///< why there is no risk
};

/// What is proven about the models of one policy, or why nothing is. Every view is the largest over the
/// pairs of the study, which bounds what replicas reveal that drew their pair at random, too.
class ProvenBounds {
 public:
  explicit ProvenBounds(std::string reason) : reason_(std::move(reason)) {}
  explicit ProvenBounds(std::vector<ProvenRisk> pairs);
  /// Of every pair: an accountant's.
  explicit ProvenBounds(Accountant accountant) : accountant_(std::move(accountant)) {}

  [[nodiscard]] bool exist() const { return reason_.empty(); }
  [[nodiscard]] const std::string& reason() const { return reason_; }  ///< why there is none

  /// These need exist(). Exact for one pair whose distributions are known, else upper bounds.
  [[nodiscard]] Claimed<Epsilon> epsilon(Delta delta) const;
  [[nodiscard]] Claimed<Delta> delta(Epsilon epsilon) const;
  [[nodiscard]] std::optional<Claimed<double>> mu() const;

 private:
  std::string reason_;
  std::vector<ProvenRisk> pairs_;
  std::optional<Accountant> accountant_;
};

/// For every policy of the study, whose ledger has this identity. Convex models are made anew from
/// their data, which must have the checksums of the ledger; networks have the accountant's bound where their policy is private.
[[nodiscard]] std::vector<ProvenBounds> proven_bounds(const Study& study,
                                                      const LedgerIdentity& identity);

}  // namespace sfumato::lab
