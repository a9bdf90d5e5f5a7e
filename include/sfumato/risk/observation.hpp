#pragma once

#include <Eigen/Core>
#include <optional>
#include <string>

#include "sfumato/core/claim.hpp"
#include "sfumato/core/pair.hpp"
#include "sfumato/risk/risk.hpp"
#include "sfumato/sde/gaussian_distribution.hpp"
#include "sfumato/sde/problem/quadratic.hpp"

namespace sfumato {

/// Training on a quadratic loss: the loss of one data set, what drives the training and where it starts.
struct QuadraticTraining {
  QuadraticLoss loss;
  Covariance noise;            ///< Sigma of a flow, S of one step of a chain, S of a release
  GaussianDistribution start;  ///< of a flow or chain; a release has none

  [[nodiscard]] Eigen::Index dimension() const { return loss.pull.size(); }
};

/// How well the model of one data set does.
struct Accuracy {
  Known<Claimed<double>> error;        ///< E|x - x*|^2
  Known<Claimed<double>> excess_loss;  ///< E f(x) - min f
};

/// What an attacker may see once, and what it tells: a flow at one time, a chain after some steps, or a
/// release.
struct Observation {
  double
      when;  ///< the time, or the number of steps; +inf is the stationary distribution; 0 of a release
  Pair<Accuracy> accuracy;
  std::optional<Risk> risk = {};  ///< empty where there is no distribution to look at
  std::string reason = {};        ///< why risk is empty
  bool mutually_singular = false;
  bool used_rank_tolerance = false;
  std::optional<Claimed<double>> mu =
      {};                  ///< set if both distributions have one covariance: exactly mu-GDP
  Known<Risk> floor = {};  ///< what is left of the risk when noise -> c noise, c -> inf
};

/// In what the trainings on D and D' differ.
struct TrainingDifferences {
  bool curvature = false;
  bool location = false;  ///< the minimiser or, where a loss has none, the pull
  bool noise = false;
  bool start_mean = false;
  bool start_covariance = false;

  /// Covariances of the outputs agree, always.
  [[nodiscard]] bool equal_covariances() const { return !(curvature || noise || start_covariance); }
  [[nodiscard]] bool any() const { return !equal_covariances() || location || start_mean; }
};
[[nodiscard]] TrainingDifferences differences_of_trainings(const Pair<QuadraticTraining>& pair);
/// The same for releases, which have one noise and no start.
[[nodiscard]] TrainingDifferences differences_of_releases(const Pair<QuadraticTraining>& pair);

/// One release of the minimiser plus N(0, S), the same S for D and D'.
/// Throws   InvalidArgument if a loss has no minimiser.
[[nodiscard]] Observation observe_release(const Pair<QuadraticTraining>& pair);

}  // namespace sfumato
