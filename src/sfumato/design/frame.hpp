#pragma once

#include <Eigen/Cholesky>
#include <Eigen/Core>

#include "sfumato/design/design.hpp"
#include "sfumato/design/dual_problem.hpp"

namespace sfumato {

/// Coordinates where the budget is the trace:  W = L L^T,  s~ = L^T s,  Sigma~ = L^T Sigma L.
/// Any root of W serves: Spec §9.2 takes the symmetric one, the optimum is the same.
class Whitening {
 public:
  explicit Whitening(const Covariance& weights);
  /// L^T s for every column s. (Row-major differences, transposed, are read where they are.)
  [[nodiscard]] Eigen::MatrixXd columns(const Eigen::Ref<const Eigen::MatrixXd>& columns) const;
  /// L^{-T} x for every column x.
  [[nodiscard]] Eigen::MatrixXd back(const Eigen::MatrixXd& columns) const;

 private:
  Eigen::VectorXd roots_;  ///< of diagonal weights, otherwise empty
  Eigen::LLT<Eigen::MatrixXd> factor_;
};

/// Whitened vectors in an orthonormal basis of a space that holds them.
struct Frame {
  Eigen::MatrixXd coordinates;  ///< one vector per row, K x r
  Eigen::MatrixXd basis;        ///< d x r; empty for the identity
  Eigen::Index dimension;       ///< d
  bool outside = false;         ///< some vector has a part outside the basis

  [[nodiscard]] Eigen::Index rest() const { return dimension - coordinates.cols(); }
};

/// The frame of whitened columns: all d coordinates, or as many as there are columns if these are
/// fewer (by QR, O(d K^2), in the place of the argument).
[[nodiscard]] Frame frame_of(Eigen::MatrixXd columns);

/// Drops directions whose share of the uniform second moments is below 1e-14 of the largest, and
/// checks that no vector has more than 1e-10 of its length there (Spec §9.3).
[[nodiscard]] Frame restricted_to_range(Frame frame);

/// Sigma from the noise in a frame; Factored for the low-rank form, otherwise Dense.
[[nodiscard]] Covariance lifted(const SpectralNoise& noise, const Frame& frame,
                                const Whitening& whitening, DesignForm form);

}  // namespace sfumato
