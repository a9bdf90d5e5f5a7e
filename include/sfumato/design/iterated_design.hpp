#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "sfumato/core/claim.hpp"
#include "sfumato/core/observer.hpp"
#include "sfumato/core/units.hpp"
#include "sfumato/design/design.hpp"

namespace sfumato {

/// What a noise reveals, and what the next one should hide.
struct NoiseJudgement {
  Claimed<Nats> kl;  ///< what is minimised: the exact KL(p || q), or a bound of it
  /// G: as the noise changes, kl changes like tr(G Sigma^{-1}) to first order, or is equal to it for
  /// the distribution that this noise leads to. Symmetric; need not be semi-definite.
  Covariance second_moments;
};
using NoiseJudge = std::function<NoiseJudgement(const Covariance& noise)>;

struct IterationOptions {
  int max_rounds = 20;      ///< designs that are tried after the isotropic one
  double tolerance = 1e-6;  ///< relative improvement, made or to be had, that ends the rounds
};

/// One noise that was tried.
struct DesignRound {
  Covariance noise;
  Claimed<Nats> kl;
  bool accepted;  ///< better than all before
};

enum class IterationEnd {
  stationary,  ///< to first order no noise of the form and budget does better: where kl is convex
               ///< in Sigma (equal Hessians), it is the optimum up to the tolerance
  no_improvement,  ///< the step towards the next design, and shorter ones, did not do better
  converged,       ///< the last improvement was below the tolerance
  out_of_rounds,
  stopped  ///< the observer asked
};
[[nodiscard]] std::string_view describe(IterationEnd end);

struct IteratedDesign {
  std::vector<DesignRound> rounds;  ///< the first is isotropic noise at the same budget
  std::size_t best;                 ///< the last accepted one
  IterationEnd end;

  [[nodiscard]] const DesignRound& result() const { return rounds[best]; }
};

/// Design for problems whose differences depend on the noise (Spec §9.5): design for the differences
/// that the present noise leads to, judge the outcome, and go on while it improves.
///
/// Each round goes from the best noise so far almost the whole way (0.999) to average_design of its
/// second moments, so that no direction becomes bare at once; where that is no improvement, a quarter
/// of the way, and so on. Mixtures stay within the budget. Where the judge gives first-order
/// moments, a fixed point satisfies the conditions of the optimum of kl itself:
///
///   Sigma W Sigma ~ G = -Sigma grad(kl) Sigma   (Spec §9.2)   <=>   grad(kl) ~ -W
///
/// Assumes  a judge that is a function: random numbers are the same for every noise.
/// Edges    KL of accepted rounds falls strictly. Isotropic form: one round. A singular optimum is
///          approached slowly, one direction after the other.
/// Throws   InvalidArgument for what require_task refuses, the low-rank form, a floor with unequal
///          entries; and what the judge throws.
[[nodiscard]] IteratedDesign iterate_design(const NoiseJudge& judge, const DesignTask& task,
                                            const IterationOptions& options, Observer& observer);

}  // namespace sfumato
