#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sfumato/core/claim.hpp"
#include "sfumato/core/units.hpp"
#include "sfumato/math/whitened_pair.hpp"

namespace sfumato {

namespace detail {
struct LocalGdp;
}  // namespace detail

/// Which of the two distributions is the first argument: forward is (D, D'), reverse is (D', D). Divergences
/// are not symmetric, so every view asks for it.
enum class Direction { forward, reverse };
inline constexpr Direction kDirections[] = {Direction::forward, Direction::reverse};

/// "D||D'" or "D'||D".
[[nodiscard]] std::string_view name(Direction direction);

/// What one output reveals about whether the model was trained on D or on D': one object, many
/// views. It speaks of **one pair** of data sets. A differential-privacy guarantee speaks of all
/// pairs, and no view here is one.
class Risk {
 public:
  /// From the two distributions of the output, both normal: every view is exact.
  [[nodiscard]] static Risk exact(const WhitenedPair& pair);

  /// From the relative entropies alone, exact or bounded above: every view is an upper bound that
  /// holds for all distributions with these divergences (Spec §4.1, §4.2).
  /// Throws InvalidArgument if a claim is a lower bound or an estimate.
  [[nodiscard]] static Risk from_kl(Claimed<Nats> forward, Claimed<Nats> reverse);

  /// From a proven mu: telling D from D' is at least as hard as telling N(0, 1) from N(mu, 1), in
  /// both directions (Spec §6.4, §8.4). Every view is an upper bound.
  /// Throws InvalidArgument if mu is negative or NaN, a lower bound or an estimate.
  [[nodiscard]] static Risk from_gdp(Claimed<double> mu);

  /// For the library itself: from Gaussian trade-off curves that hold off sets of small probability (Spec §7.10).
  /// Every view but the KL, of which it says nothing (+inf), is an upper bound: the best of the curves.
  /// Throws InvalidArgument if there is none, or if a mu or a tail is not in its range.
  [[nodiscard]] static Risk from_local_gdp(std::vector<detail::LocalGdp> curves,
                                           std::string method);

  /// Of everything that is known, the smallest number in every view; ties go to the first.
  /// Throws InvalidArgument if `known` is empty.
  [[nodiscard]] static Risk best_of(const std::vector<Risk>& known);

  [[nodiscard]] Claimed<Nats> kl(Direction direction) const;

  /// Renyi divergence; nothing is known of it when only the KL is.
  [[nodiscard]] std::optional<Claimed<Nats>> renyi(Direction direction, double order) const;

  /// Total variation = membership advantage of the best attack, TPR - FPR at its best threshold.
  [[nodiscard]] Claimed<double> advantage() const;

  /// sup_A [ first(A) - e^epsilon second(A) ], the first distribution being that of `direction`.
  [[nodiscard]] Claimed<Delta> delta(Direction direction, Epsilon epsilon) const;

  /// The larger of both directions: the pair is (epsilon, delta)-indistinguishable (Spec §1.5).
  [[nodiscard]] Claimed<Delta> delta(Epsilon epsilon) const;

  /// Smallest epsilon with delta(direction, epsilon) <= delta; +inf if there is none.
  [[nodiscard]] Claimed<Epsilon> epsilon(Direction direction, Delta delta) const;

  /// The larger of both directions.
  [[nodiscard]] Claimed<Epsilon> epsilon(Delta delta) const;

  /// Largest true-positive rate of an attack on D that errs on D' with probability `fpr` at most.
  [[nodiscard]] Claimed<double> tpr(double fpr) const;

 private:
  struct Gaussian;
  struct Entropies;
  struct Local;
  struct Evidence;
  explicit Risk(std::vector<Evidence> evidence);
  /// The smallest of view(evidence) over all evidence.
  template <class View>
  [[nodiscard]] auto least(View&& view) const;

  std::shared_ptr<const std::vector<Evidence>> evidence_;  ///< never empty; copies share it
};

}  // namespace sfumato
