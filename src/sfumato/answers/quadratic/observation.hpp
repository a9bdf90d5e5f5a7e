#pragma once

#include <optional>
#include <string>

#include "sfumato/answers/quadratic/problem.hpp"
#include "sfumato/privacy/risk.hpp"
#include "sfumato/report/table.hpp"

namespace sfumato {

/// How well the model of one data set does.
struct Accuracy {
  Cell error;        ///< E|x - x*|^2
  Cell excess_loss;  ///< E f(x) - min f
};

/// What an attacker may see once, and what it tells: the flow at one time, the chain after some
/// steps, or the release.
struct Observation {
  Cell label;        ///< the time, the number of steps, or the name of the release
  std::string name;  ///< the same in a sentence: "t = 0.5", "100 steps"
  Accuracy d;
  Accuracy d_prime;
  std::optional<Risk> risk = {};  ///< empty where there is no law to look at
  std::string reason = {};        ///< why risk is empty
  bool mutually_singular = false;
  bool used_rank_tolerance = false;
  std::optional<double> mu = {};   ///< set if both laws have one covariance: exactly mu-GDP
  std::optional<Risk> floor = {};  ///< what is left of the risk when noise -> c noise, c -> inf
  std::string floor_reason = {};   ///< why floor is empty

  /// Fills in the risk of two laws.
  void set_laws(const WhitenedPair& pair, bool equal_covariances);
};

/// In what D and D' differ, after everything shared is filled in.
struct Differences {
  bool curvature = false;
  bool location = false;  ///< the minimiser or, where a loss has none, the pull
  bool noise = false;
  bool start_mean = false;
  bool start_covariance = false;

  /// Covariances of the outputs agree, always.
  [[nodiscard]] bool equal_covariances() const { return !(curvature || noise || start_covariance); }
};
[[nodiscard]] Differences differences(const QuadraticProblem& problem);

/// Reasons of D and D', said once when they are the same.
[[nodiscard]] std::string joined_reasons(const std::string& d, const std::string& d_prime);

/// The minimiser plus N(0, S).
/// Throws InvalidArgument if a loss has no minimiser.
[[nodiscard]] Observation observe_release(const QuadraticProblem& problem);

}  // namespace sfumato
