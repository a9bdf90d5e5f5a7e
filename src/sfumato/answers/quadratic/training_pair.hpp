#pragma once

#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "sfumato/answers/quadratic/observation.hpp"
#include "sfumato/answers/quadratic/problem.hpp"
#include "sfumato/sde/chain_law.hpp"
#include "sfumato/sde/ou_law.hpp"

namespace sfumato {

/// Two laws against each other, or why there are none.
using PairOrReason = std::pair<std::optional<WhitenedPair>, std::string>;

/// The two trainings of a problem, flows (Spec §5) or chains (Spec §8). `when` is the time of a
/// flow and the number of steps of a chain; +inf is the stationary law.
class TrainingPair {
 public:
  /// Assumes   the problem is a flow or a chain.
  explicit TrainingPair(const QuadraticProblem& problem);

  /// The listed times or numbers of steps.
  [[nodiscard]] const std::vector<double>& looks() const { return looks_; }

  /// Where the laws overflow, do not exist or cannot be compared in double precision, the reason
  /// stands in place of the risk.
  [[nodiscard]] Observation at(double when) const;

  [[nodiscard]] PairOrReason pair_at(double when) const;

  /// Smallest and largest positive |eigenvalue| of both curvatures, per unit of time or per step:
  /// the rates of the training.
  [[nodiscard]] std::pair<double, double> rates() const;

 private:
  /// One data set's training, and the one from the origin without pull, driven by noise alone.
  template <class Law>
  struct Side {
    Law law;
    Law noise_alone;
    Minimum minimum;
  };
  template <class Law>
  struct Sides {
    Side<Law> d;
    Side<Law> d_prime;
  };
  using AnySides = std::variant<Sides<OuLaw>, Sides<ChainLaw>>;

  static AnySides sides_of(const QuadraticProblem& problem);
  template <class Law, class Kind>
  static Sides<Law> sides_of(const Kind& kind, const QuadraticProblem& problem);
  template <class Law>
  [[nodiscard]] PairOrReason compare(const Law& p, const Law& q, double when) const;
  template <class Law>
  static Accuracy accuracy(const Side<Law>& side, double when);
  template <class Law>
  void add_floor(const Sides<Law>& sides, double when, Observation& observation) const;

  std::vector<double> looks_;
  AnySides sides_;
  double rate_unit_;       ///< of an eigenvalue: 1, or the learning rate
  bool noise_everywhere_;  ///< of both data sets, in all directions
  bool start_at_points_;
  Differences differences_;
};

}  // namespace sfumato
