#pragma once

#include <limits>
#include <optional>
#include <string>

#include "sfumato/core/error.hpp"
#include "sfumato/math/whitened_pair.hpp"
#include "sfumato/sde/ou_distribution.hpp"
#include "sfumato/sde/precise/reached.hpp"
#include "sfumato/sde/precise/training.hpp"
#include "sfumato/sde/spectrum.hpp"

namespace sfumato {

/// What a distribution is made of, as given.
[[nodiscard]] GivenTraining given_training(const OuProcess& process,
                                           const GaussianDistribution& start, double learning_rate);

/// Whether eigenvalues computed in double precision have lost so many digits that those of more
/// precise numbers are worth their time.
[[nodiscard]] bool loses_digits(const Spectrum& spectrum);

/// Throws   NumericalFailure if an eigenvalue of a table's curvature was taken to be 0 for want of digits and
///          could matter until then: both comparisons would err alike.
void require_resolved(const Spectrum& spectrum, const GivenTraining& training, double when);

/// Throws   NumericalFailure if the two comparisons differ in the digits that people read.
void require_agreement(const WhitenedPair& pair, const WhitenedPair& twin);

/// A loss 1/2 x^T A x - pull^T x times a number: A and the pull as rounded, and what they were rounded from, if
/// that is known.
struct ScaledLoss {
  const Eigen::MatrixXd& curvature;
  const Eigen::VectorXd& pull;
  const GivenLoss* given;
  double scale = 1.0;
};

/// M = s A - s' A', c = s pull - s' pull', and M x - c at a point.
struct LossDifference {
  Eigen::MatrixXd curvature;
  Eigen::VectorXd pull;
  Eigen::VectorXd at_point;
};

/// The difference of two losses from what they were given, with digits to spare: losses that differ in one of a
/// million rows share six digits, which a difference of rounded sums does not have.
[[nodiscard]] LossDifference loss_difference(const ScaledLoss& p, const ScaledLoss& q,
                                             const Eigen::VectorXd& point);

/// By what factor |S^(-1/2) v|^2 may be too small when S is factored in double precision.
[[nodiscard]] double rounding_of_metric(const Covariance& metric);

/// Whether the difference of two losses is lost in the rounding of the sums that they are: a bound made of
/// it would be one of rounding.
[[nodiscard]] bool difference_is_rounded(const OuProcess& p, const OuProcess& q);
inline constexpr const char* kRoundedDifference =
    "the losses differ by little more than the rounding of their sums";

/// Comparing two distributions with the digits it takes: `rounded` compares them in double precision, and with
/// noise everywhere more digits follow where they are needed; without it, or where they would take too
/// long, the comparison is refused if rounding can be seen.
template <class Distribution>
[[nodiscard]] WhitenedPair whiten_carefully(const Distribution& p, const Distribution& q,
                                            double when,
                                            WhitenedPair (*rounded)(const Distribution&,
                                                                    const Distribution&, double)) {
  const GivenTraining& given_p = p.precise().given();
  const GivenTraining& given_q = q.precise().given();
  const bool definite = is_definite(given_p.noise) && is_definite(given_q.noise);
  // Exact zeros stay exact in diagonal distributions, and there nothing but a difference of means can cancel.
  if (when == 0.0 || (!definite && p.is_diagonal() && q.is_diagonal())) return rounded(p, q, when);
  if (definite && p.dimension() <= kLargestExtended) {
    // A distribution that is double precision in parts only says nothing about the rounding of long double.
    std::optional<WhitenedPair> first;
    try {
      if (!p.lost_digits() && !q.lost_digits()) first = rounded(p, q, when);
      // Noise in every direction leaves no distribution singular: a rank that is lost is lost to rounding.
      if (first && (first->mutually_singular || first->used_rank_tolerance)) first.reset();
    } catch (const NumericalFailure&) {  // more digits may do
    }
    if (auto pair = compare_precisely(p.precise(), q.precise(), when, first)) return *pair;
    const std::string reason =
        p.long_run().reason.empty() ? q.long_run().reason : p.long_run().reason;
    throw NumericalFailure(reason.empty() ? "there is no distribution in the long run" : reason,
                           "Ask for a finite time", Where::here("comparison of two distributions"));
  }
  require_resolved(p.spectrum(), given_p, when);
  require_resolved(q.spectrum(), given_q, when);
  WhitenedPair pair = rounded(p, q, when);
  if (pair.mutually_singular) {
    const Eigen::VectorXd mean_p = p.at(when).mean, mean_q = q.at(when).mean;
    require_singular({p.spectrum(), given_p, mean_p}, {q.spectrum(), given_q, mean_q}, when);
    return pair;
  }
  require_agreement(pair, rounded(p.twin(), q.twin(), when));
  return pair;
}

}  // namespace sfumato
