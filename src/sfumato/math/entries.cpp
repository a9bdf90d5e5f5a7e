#include "sfumato/math/entries.hpp"

#include <fmt/format.h>

#include <cmath>

namespace sfumato {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;

constexpr double kSymmetryTolerance = 1e-9;

}  // namespace

void require_finite_entries(std::string_view name, const Eigen::Ref<const MatrixXd>& matrix,
                            const Where& where) {
  if (matrix.allFinite()) return;
  for (Index i = 0; i < matrix.rows(); ++i) {
    for (Index j = 0; j < matrix.cols(); ++j) {
      if (std::isfinite(matrix(i, j))) continue;
      const std::string entry = matrix.cols() == 1
                                    ? fmt::format("entry {}", i + 1)
                                    : fmt::format("entry {} of row {}", j + 1, i + 1);
      throw InvalidArgument(
          fmt::format("{} of {} is {}, not a finite number", entry, name, matrix(i, j)),
          "Remove NaN and infinite entries", where);
    }
  }
}

MatrixXd require_symmetric(std::string_view name, const MatrixXd& matrix, const Where& where) {
  if (matrix.rows() != matrix.cols() || matrix.rows() == 0) {
    throw InvalidArgument(
        fmt::format("{} is {} x {}, not a square matrix", name, matrix.rows(), matrix.cols()),
        "Give one row and one column per parameter", where);
  }
  require_finite_entries(name, matrix, where);
  const double largest = matrix.cwiseAbs().maxCoeff();
  Index i = 0;
  Index j = 0;
  const double asymmetry = (matrix - matrix.transpose()).cwiseAbs().maxCoeff(&i, &j);
  if (asymmetry > kSymmetryTolerance * largest) {
    throw InvalidArgument(
        fmt::format("{} is not symmetric: entry {} of row {} is {}, entry {} of row {} is {}", name,
                    j + 1, i + 1, matrix(i, j), i + 1, j + 1, matrix(j, i)),
        "Give a symmetric matrix", where);
  }
  return 0.5 * matrix + 0.5 * matrix.transpose();
}

}  // namespace sfumato
