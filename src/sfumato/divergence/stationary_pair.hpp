#pragma once

#include <optional>
#include <span>
#include <vector>

#include "sfumato/core/observer.hpp"
#include "sfumato/divergence/local_gdp.hpp"
#include "sfumato/sde/problem/curvature_shells.hpp"

namespace sfumato {

/// What is proven about the invariant distributions of a table and of a neighbour; every number is an upper bound.
struct StationaryBound {
  double forward;               ///< KL(p||q); +inf where nothing is proven
  double reverse;               ///< KL(q||p)
  std::vector<LocalGdp> local;  ///< mu increasing, tails decreasing
};

/// The invariant distributions exp(-2 f/sigma^2), exp(-2 f'/sigma^2) of noisy gradient flow on a table and on
/// its neighbours, through the curvature near the minimiser (CurvatureShells) instead of the ridge alone.
///
///   Spec §7.9   KL = integral of (1 - t) beta^2 Var_t(f' - f), Var_t <= E_t of the squared gradient in
///               the metric of the Hessian, shell by shell
///   Spec §7.10  Gaussian trade-off curves within each shell
///
/// Assumes  a ridge term > 0, isotropic noise.
class StationaryPairs {
 public:
  /// Of one neighbour for each row: without it, or with `replacement` in its place.
  /// Throws   as CurvatureShells; InvalidArgument if the variance or the ridge is not positive.
  StationaryPairs(const ClassificationFit& fit, double variance,
                  const std::optional<Record>& replacement, const Observer& observer);

  /// O(K p^2) for each row. Empty `local` and infinite KL where rounding leaves no shell.
  /// Throws   Stopped if the observer asked to stop.
  [[nodiscard]] std::vector<StationaryBound> bounds(std::span<const Eigen::Index> rows,
                                                    const Observer& observer) const;

 private:
  struct Place;
  struct Row;
  [[nodiscard]] Place place(const Record& record) const;
  [[nodiscard]] double gradient_in(std::size_t shell, const Row& row) const;
  [[nodiscard]] StationaryBound bound(const Row& row) const;

  const ClassificationFit* fit_;
  std::optional<Record> replacement_;
  double beta_;
  CurvatureShells shells_;
  ClassificationProblem::Weights own_;
  std::vector<Eigen::MatrixXd>
      put_in_;  ///< by shell: the whitened columns of x_in; none for removal
};

}  // namespace sfumato
