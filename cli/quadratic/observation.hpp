#pragma once

#include <optional>
#include <string>
#include <utility>

#include "quadratic/problem.hpp"
#include "sfumato/privacy/risk.hpp"
#include "sfumato/report/table.hpp"
#include "sfumato/sde/ou_law.hpp"

namespace sfumato::cli {

/// How well the model of one data set does.
struct Accuracy {
  Cell error;        ///< E|x - x*|^2
  Cell excess_loss;  ///< E f(x) - min f
};

/// What an attacker may see once, and what it tells: the flow at one time, or the release.
struct Observation {
  Cell label;                ///< the time, or the name of the release
  std::optional<Risk> risk;  ///< empty where there is no law to look at
  std::string reason;        ///< why risk is empty
  bool mutually_singular = false;
  bool used_rank_tolerance = false;
  std::optional<double> mu;  ///< set if both laws have one covariance: exactly mu-GDP for this pair
  std::optional<Risk> floor;  ///< what is left of the risk when Sigma -> c Sigma, c -> inf
  std::string floor_reason;   ///< why floor is empty
  Accuracy d;
  Accuracy d_prime;
};

/// In what D and D' differ, after everything shared is filled in.
struct Differences {
  bool curvature = false;
  bool location = false;  ///< the minimiser or, where a loss has none, the pull
  bool noise = false;
  bool start_mean = false;
  bool start_covariance = false;

  /// Covariances of the outputs agree, at every time.
  [[nodiscard]] bool equal_covariances() const { return !(curvature || noise || start_covariance); }
};
[[nodiscard]] Differences differences(const QuadraticProblem& problem);

/// The two flows of a problem (Spec §5).
class FlowPair {
 public:
  explicit FlowPair(const QuadraticProblem& problem);

  /// Where the laws overflow or do not exist, the reason stands in place of the risk.
  [[nodiscard]] Observation at(double time) const;

  /// The two laws at `time`, or why there are none.
  [[nodiscard]] std::pair<std::optional<WhitenedPair>, std::string> pair_at(double time) const;

  /// Smallest and largest positive |eigenvalue| of both curvatures: the rates of the flow.
  [[nodiscard]] std::pair<double, double> rates() const;

 private:
  /// One data set's flow and the one that starts at the origin without pull, driven by noise alone.
  struct Side {
    explicit Side(const DataSet& data);
    [[nodiscard]] Accuracy accuracy(double time) const;
    OuLaw law;
    OuLaw noise_alone;
    Minimum minimum;
    bool starts_at_a_point;
  };
  void add_floor(double time, Observation& observation) const;

  Side d_;
  Side d_prime_;
  Differences differences_;
};

/// The minimiser plus N(0, S).
/// Throws InvalidArgument if a loss has no minimiser.
[[nodiscard]] Observation observe_release(const QuadraticProblem& problem);

}  // namespace sfumato::cli
