#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "sfumato/account/accountant/guarantee.hpp"
#include "sfumato/account/accountant/release.hpp"
#include "sfumato/core/claim.hpp"
#include "sfumato/core/observer.hpp"
#include "sfumato/core/units.hpp"

namespace sfumato {

struct TotalLoss;
enum class StepDirection;

/// Between which numbers the truth is: `upper` is the privacy claim, `lower` how much of it is slack. `lower` is what some mechanism of the given
/// description reveals on some data; where nothing like that is known it is trivial, and its method says why.
struct Enclosure {
  Claimed<double> lower;
  Claimed<double> upper;
};

/// One attack of a trade-off curve: of those that err with probability `fpr` on a model without the record, none recognises one with it more often.
struct AttackRate {
  double fpr;
  Claimed<double> tpr;  ///< an upper bound
};

/// What a list of releases reveals about a record at most, whatever the data (Spec §17 to §20). Every number is an enclosure of the value
/// of the pair that dominates the releases; its cost does not depend on the numbers of steps. Order does not matter. The list of releases is
/// all the state there is: answers/account/state.hpp keeps it in files.
class Accountant {
 public:
  /// Throws   InvalidArgument for a group of no records.
  explicit Accountant(NeighbouringRelation relation, std::uint64_t group_size = 1);

  /// Of all these releases, composed one after the other. Throws as the other one and as compose().
  explicit Accountant(const PrivateReleases& releases);

  /// Adds what else was released about the same records. No steps, or a rate of 0, add nothing.
  /// Throws   InvalidArgument as require_accountable(); nothing is added then.
  void compose(const PrivateRelease& release);

  /// Adds a condition that the guarantee rests on besides; once is enough.
  void require(const std::string& condition);

  /// The same releases; questions to it ask `observer`, which must outlive it, several times a second whether to stop, and throw Stopped
  /// (core/parallel.hpp) then.
  [[nodiscard]] Accountant watched_by(const Observer& observer) const;

  [[nodiscard]] const PrivateReleases& releases() const { return releases_; }

  /// delta(epsilon) and epsilon(delta), the worse of both directions, each composed as a whole.
  [[nodiscard]] Enclosure delta(Epsilon epsilon) const;
  /// Edges    delta = 0 gives +inf unless the loss is bounded.
  [[nodiscard]] Enclosure epsilon(Delta delta) const;

  /// Total variation: how much better than a guess the best attack is, TPR - FPR.
  [[nodiscard]] Enclosure advantage() const;
  /// The best attack's true-positive rate at that false-positive rate; members are those in the training data.
  /// Throws   InvalidArgument unless fpr is in [0, 1].
  [[nodiscard]] Enclosure tpr(double fpr) const;
  /// The best attack's share of right answers if a share `prior` of those asked about are members (1 - Bayes risk).
  /// Throws   InvalidArgument unless prior is in (0, 1).
  [[nodiscard]] Enclosure attack_accuracy(double prior) const;
  /// Its upper end alone, which is quicker.
  [[nodiscard]] Claimed<double> tpr_bound(double fpr) const;
  /// Upper bounds of tpr() at each of these, from one table of delta: a little above tpr_bound(), for curves.
  [[nodiscard]] std::vector<AttackRate> trade_off(const std::vector<double>& fprs) const;

  /// What others print of the same releases: Renyi privacy converted at its best order, an upper bound; and the estimate by
  /// the central limit theorem, which may be below the truth and exists for Gaussian noise alone.
  [[nodiscard]] Claimed<Epsilon> renyi_epsilon(Delta delta) const;
  [[nodiscard]] std::optional<Claimed<Epsilon>> clt_epsilon(Delta delta) const;

  /// The second opinion: delta by discretised losses and FFT, sharing nothing with the contour but the steps.
  [[nodiscard]] Enclosure delta_by_fft(Epsilon epsilon) const;
  /// Whether the two methods' enclosures of delta meet, in each direction; also where nothing is known of the releases from below.
  [[nodiscard]] bool methods_agree(Epsilon epsilon) const;
  /// Epsilon by the same, to a relative 1e-6 on either side.
  [[nodiscard]] Enclosure epsilon_by_fft(Delta delta) const;

  /// The statement for every pair of data sets.
  [[nodiscard]] Guarantee guarantee(Delta delta) const;

 private:
  [[nodiscard]] TotalLoss total(StepDirection direction) const;

  PrivateReleases releases_;
  const Observer* observer_ = nullptr;
};

}  // namespace sfumato
