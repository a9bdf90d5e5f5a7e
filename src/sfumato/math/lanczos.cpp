#include "sfumato/math/lanczos.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "sfumato/core/check.hpp"
#include "sfumato/core/error.hpp"
#include "sfumato/math/symmetric_eigen.hpp"

namespace sfumato {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

/// Entries in (-1, 1) by splitmix64: as good as random, and always the same. Not signs, which matrices
/// with structure map to zero (a softmax the same sign in all classes).
VectorXd scattered(Index dimension, Index stream) {
  VectorXd result(dimension);
  auto state = static_cast<std::uint64_t>(stream) << 40;
  for (double& entry : result) {
    std::uint64_t z = (state += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    entry = static_cast<double>((z ^ (z >> 31)) >> 11) * 0x1p-52 - 1.0;
  }
  return result;
}

/// Removes from `vector` its parts along the first `count` columns; twice, which is enough.
void orthogonalise(VectorXd& vector, const MatrixXd& basis, Index count) {
  for (int pass = 0; pass < 2; ++pass) {
    vector -= basis.leftCols(count) * (basis.leftCols(count).transpose() * vector);
  }
}

/// The Krylov space so far: A basis = basis T + next e_last^T with T tridiagonal.
struct Krylov {
  MatrixXd basis;
  VectorXd diagonal, below;  ///< of T; the last entry of `below` is the length of the remainder
  Index size = 0;

  [[nodiscard]] EigenPairs pairs(Index count, double tolerance, bool with_vectors) const {
    const TridiagonalEigen eigen = tridiagonal_eigen(diagonal.head(size), below.head(size - 1));
    if (!eigen.converged) throw InternalError("no spectrum of a tridiagonal matrix");
    EigenPairs result;
    const Index kept = std::min(count, size);
    result.values = eigen.values.tail(kept).reverse();
    const MatrixXd small = eigen.vectors.rightCols(kept).rowwise().reverse();
    result.residuals = below(size - 1) * small.row(size - 1).cwiseAbs().transpose();
    const double scale = eigen.values.cwiseAbs().maxCoeff();
    result.converged = (result.residuals.array() <= tolerance * scale).all();
    result.products = size;
    if (with_vectors) result.vectors = basis.leftCols(size) * small;
    return result;
  }
};

}  // namespace

EigenPairs largest_eigenpairs(Index dimension,
                              const std::function<VectorXd(const VectorXd&)>& apply,
                              const LanczosOptions& options) {
  const Where where = Where::here();
  if (dimension < 1 || options.count < 1 || options.most_steps < options.count) {
    throw InvalidArgument(fmt::format("{} eigenpairs in dimension {} by {} products", options.count,
                                      dimension, options.most_steps),
                          "Ask for at least one, with at least as many products", where);
  }
  require_non_negative("tolerance", options.tolerance, where);

  const Index most = std::min(dimension, options.most_steps);
  Krylov krylov{MatrixXd(dimension, most), VectorXd(most), VectorXd(most)};
  VectorXd next = scattered(dimension, 0).normalized();
  while (true) {
    const Index step = krylov.size++;
    krylov.basis.col(step) = next;
    VectorXd product = apply(next);
    if (!product.allFinite()) {
      throw NumericalFailure("a product with the matrix is not finite",
                             "Check the point at which it is taken", where);
    }
    const double length = product.norm();
    krylov.diagonal(step) = next.dot(product);
    orthogonalise(product, krylov.basis, step + 1);
    krylov.below(step) = product.norm();
    // Nothing new but rounding: the space maps into itself, and T falls into two parts.
    const bool closed = krylov.below(step) <= 1e-13 * length;
    if (closed) krylov.below(step) = 0.0;

    const bool last = krylov.size == most;
    const bool look = krylov.size >= options.count && (krylov.size % 4 == 0 || closed);
    if (last || (look && krylov.pairs(options.count, options.tolerance, false).converged)) {
      return krylov.pairs(options.count, options.tolerance, true);
    }
    if (closed) {
      product = scattered(dimension, krylov.size);
      orthogonalise(product, krylov.basis, krylov.size);
    }
    next = product.normalized();
  }
}

}  // namespace sfumato
