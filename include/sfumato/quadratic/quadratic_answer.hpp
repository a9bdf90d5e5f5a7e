#pragma once

#include <array>
#include <vector>

#include "sfumato/core/claim.hpp"
#include "sfumato/core/observer.hpp"
#include "sfumato/divergence/kl_bound.hpp"
#include "sfumato/quadratic/quadratic_question.hpp"
#include "sfumato/report/document.hpp"

namespace sfumato {

/// What the theorems about a chain say of the KL of its last iterate, in one direction.
struct ChainBounds {
  KlBound contractive;        ///< Spec §8.3; §27.9 where the noise of a step differs
  Known<double> lipschitz;    ///< of the second step in the metric of its noise
  KlBound path;               ///< KL of the whole paths (Spec §8.2)
  Known<Claimed<double>> mu;  ///< where the steps differ by a constant (Spec §8.4)
};

/// A point of the curves over time or steps, forward and reverse.
struct QuadraticPoint {
  double when;
  std::array<Claimed<Nats>, 2> kl;
  std::array<Claimed<Delta>, 2> delta;  ///< at the first epsilon
};

struct QuadraticAnswer {
  QuadraticQuestion question;
  TrainingDifferences differences;
  std::vector<Observation> observations;  ///< one per time or number of steps, or of the release
  /// What theorems say beside the exact KL, where the question is about a chain; one per observation.
  std::vector<std::array<ChainBounds, 2>> chain_bounds = {};
  std::vector<QuadraticPoint> curve = {};  ///< over time or steps, for figures; none of a release
  bool stopped = false;
};

/// Tells `observer` how far it is; when asked to stop it leaves out what it has not reached.
///
/// Throws   InvalidArgument as require_quadratic(), and for a release of a loss without minimiser.
[[nodiscard]] QuadraticAnswer answer(const QuadraticQuestion& question, Observer& observer);

/// In full: the problem, risk, (epsilon, delta), Renyi, bounds of a chain, accuracy, noise floor, figures. In
/// brief: risk and accuracy of each look, in the worse direction.
[[nodiscard]] Document document_of(const QuadraticAnswer& answer, Detail detail);

}  // namespace sfumato
