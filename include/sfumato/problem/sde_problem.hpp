#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sfumato/core/error.hpp"
#include "sfumato/core/pair.hpp"
#include "sfumato/divergence/pair_bounds.hpp"
#include "sfumato/math/covariance.hpp"
#include "sfumato/sde/diffusion.hpp"

namespace sfumato {

/// How much work the estimates may take.
struct EstimatePlan {
  bool monte_carlo = true;
  std::uint64_t seed = 1;
  std::uint64_t paths = 0;     ///< 0: 20000, fewer where a drift is costly
  std::optional<double> step;  ///< of a path; empty: the last time / 1000, at most 0.01
  bool fokker_planck = true;
  Eigen::Index cells = 0;  ///< per axis; 0: chosen by the solver
  std::vector<Interval>
      domain;  ///< of the grid, one interval per coordinate; empty: found by trial
};

/// Constants that are taken as proven; every number that rests on them says so.
struct AssumedConstants {
  std::optional<double> sensitivity;        ///< |Sigma^(-1/2) (b - b')| <= this for all x
  std::optional<double> contraction;        ///< of the drift of D in the metric of its noise
  std::optional<double> contraction_prime;  ///< of the drift of D'
};

/// Two stochastic differential equations, of D and of D', and when to look at them.
struct SdeProblem {
  std::string source = {};  ///< the file; empty: none
  std::string title = {};
  std::vector<double> times = {};  ///< >= 0; +inf is the stationary distribution
  EstimatePlan plan = {};
  SdePair pair = {};
  /// The same pair with another noise on both sides; empty unless both share one constant Sigma and
  /// are quadratic losses or a model.
  std::function<SdePair(const Covariance& noise)> with_noise = {};
  Pair<std::string> kind = {};     ///< "linear", "formulas", "logistic regression ..."
  std::string way_of_change = {};  ///< how [d_prime] was made from [d] if by a rule
  std::string frozen =
      {};  ///< what stands still in the model that does not in training; a sentence
  std::string defaults = {};  ///< what [d] leaves to its defaults, as a sentence
  double work = 10.0;         ///< about how many operations one evaluation of a drift takes
  std::vector<std::string> assumed = {};  ///< constants that were stated without proof

  [[nodiscard]] Eigen::Index dimension() const { return pair.p.diffusion.dimension; }
};

/// Whether the drifts of a file are those that are meant, or stand for functions that take their place: then nothing is derived from
/// them, and nothing that is stated is checked against them.
enum class DriftsAre { meant, placeholders };

/// Takes the constants as proven.
/// Throws   InvalidArgument at the key for a number out of its range, or one that is known and differs.
void assume(const AssumedConstants& constants, SdeProblem& problem,
            DriftsAre drifts = DriftsAre::meant);

}  // namespace sfumato
