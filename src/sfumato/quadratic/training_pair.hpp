#pragma once

#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "sfumato/core/pair.hpp"
#include "sfumato/risk/observation.hpp"
#include "sfumato/sde/chain_distribution.hpp"
#include "sfumato/sde/ou_distribution.hpp"

namespace sfumato {

/// Two distributions against each other, or why there are none.
using PairOrReason = std::pair<std::optional<WhitenedPair>, std::string>;

/// Training on D and on D', both on quadratic losses: noisy gradient flows (Spec §5), or chains of noisy gradient
/// descent (Spec §8). `when` is the time of a flow and the number of steps of a chain; +inf is the
/// stationary distribution.
class TrainingPair {
 public:
  /// Flows or, with the learning rate of both, chains.
  /// Throws   as OuDistribution and ChainDistribution.
  explicit TrainingPair(const Pair<QuadraticTraining>& pair,
                        std::optional<double> learning_rate = {});

  /// Where the distributions overflow, do not exist or cannot be compared in double precision, the reason
  /// stands in place of the risk.
  [[nodiscard]] Observation at(double when) const;

  [[nodiscard]] PairOrReason pair_at(double when) const;

  /// Smallest and largest positive |eigenvalue| of both curvatures, per unit of time or per step:
  /// the rates of the training.
  [[nodiscard]] std::pair<double, double> rates() const;

 private:
  /// One data set's training, and the one from the origin without pull, driven by noise alone.
  template <class Distribution>
  struct Side {
    Distribution distribution;
    Distribution noise_alone;
    Minimum minimum;
  };
  using Sides = std::variant<Pair<Side<OuDistribution>>, Pair<Side<ChainDistribution>>>;

  static Sides sides_of(const Pair<QuadraticTraining>& pair,
                        const std::optional<double>& learning_rate);
  template <class Distribution>
  [[nodiscard]] PairOrReason compare(const Distribution& p, const Distribution& q,
                                     double when) const;
  template <class Distribution>
  static Accuracy accuracy(const Side<Distribution>& side, double when);
  template <class Distribution>
  void add_floor(const Pair<Side<Distribution>>& sides, double when,
                 Observation& observation) const;

  Sides sides_;
  double rate_unit_;       ///< of an eigenvalue: 1, or the learning rate
  bool noise_everywhere_;  ///< of both data sets, in all directions
  bool start_at_points_;
  TrainingDifferences differences_;
};

}  // namespace sfumato
