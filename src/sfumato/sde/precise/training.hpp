#pragma once

#include <Eigen/Core>
#include <memory>
#include <optional>

#include "sfumato/math/covariance.hpp"
#include "sfumato/math/whitened_pair.hpp"
#include "sfumato/sde/gaussian_distribution.hpp"
#include "sfumato/sde/problem/given_loss.hpp"
#include "sfumato/sde/problem/quadratic.hpp"

namespace sfumato {

/// The most parameters for which distributions are compared in long double and in Wide: the time grows with their
/// cube.
inline constexpr Eigen::Index kLargestExtended = 256;
inline constexpr Eigen::Index kLargestWide = 128;

/// Noisy gradient flow or descent on a quadratic loss, as it was given.
struct GivenTraining {
  GivenLoss loss;
  Covariance noise;  ///< Sigma of a flow, that of one step for a chain
  GaussianDistribution start;
  double learning_rate = 0.0;  ///< 0 for the flow
};

/// The eigenvalues and eigenvectors of A and what the distribution needs in them, each number rounded to
/// double precision once, at the end.
struct RoundedSpectrum {
  Eigen::VectorXd values;   ///< ascending; exactly 0 where A is singular
  Eigen::MatrixXd vectors;  ///< Q, by columns
  Eigen::VectorXd pull;     ///< Q^T pull
  Eigen::VectorXd force;    ///< Q^T (pull - A m_0)
};

namespace detail {
class PreciseTraining;
}  // namespace detail
using detail::PreciseTraining;

/// The two distributions at a time or number of steps `when` > 0, +inf for the long run, against each other.
///
/// The comparison is repeated with more digits, of which long double has 19, Wide 50 and Widest 200, until two of
/// them agree so well that the better one has at least eight digits. `rounded` is the comparison in double precision, where there
/// is one.
///
/// Assumes  both noises are definite, so that both distributions have a density.
/// Empty    when one of the trainings has no distribution in the long run.
/// Throws   NumericalFailure if 200 digits are too few, or more than 19 are needed in more than 128 dimensions.
[[nodiscard]] std::optional<WhitenedPair> compare_precisely(
    const PreciseTraining& p, const PreciseTraining& q, double when,
    const std::optional<WhitenedPair>& rounded);

/// The minimiser of q's loss less that of p's, in the same way; both start at the same point.
///
/// Empty    when one of the losses has no unique minimiser.
/// Throws   as compare_precisely.
[[nodiscard]] std::optional<Eigen::VectorXd> minimiser_shift_precisely(const PreciseTraining& p,
                                                                       const PreciseTraining& q);

/// A training in more digits than double precision has. What it is asked for is made once and kept;
/// safe to call from several threads, copies share what they have.
class detail::PreciseTraining {
 public:
  explicit PreciseTraining(GivenTraining training);

  [[nodiscard]] const GivenTraining& given() const;

  /// From as many digits as it takes: eigenvalues from the rows of a table may be 1e36 apart.
  [[nodiscard]] RoundedSpectrum spectrum() const;

  /// x^T A^+ x, by the pseudo-inverse where A is singular.
  [[nodiscard]] double inverse_form(const Eigen::VectorXd& x) const;

  struct Work;

 private:
  friend std::optional<WhitenedPair> sfumato::compare_precisely(
      const PreciseTraining& p, const PreciseTraining& q, double when,
      const std::optional<WhitenedPair>& rounded);
  friend std::optional<Eigen::VectorXd> sfumato::minimiser_shift_precisely(
      const PreciseTraining& p, const PreciseTraining& q);
  /// use(solution) in the precision that it takes.
  template <class Use>
  [[nodiscard]] auto with_solved(Use&& use) const;

  std::shared_ptr<Work> work_;
};

/// Noisy gradient flow on the loss from 0, with noise of variance 1, in more digits.
[[nodiscard]] PreciseTraining training_of(const QuadraticLoss& loss);

/// How far two comparisons of the same distributions disagree: the largest relative difference of both relative
/// entropies and of the variance of the log ratio. +inf where one of them is not finite.
[[nodiscard]] double disagreement(const WhitenedPair& a, const WhitenedPair& b);

}  // namespace sfumato
