#include "sfumato/data/array.hpp"

#include <fmt/format.h>

#include <cmath>

namespace sfumato {

Array scalar_array(double value) { return {Eigen::MatrixXd::Constant(1, 1, value), 0}; }

Array vector_array(const Eigen::VectorXd& values) { return {values, 1}; }

Array matrix_array(const Eigen::MatrixXd& values) { return {values, 2}; }

std::string shape_text(const Array& array) {
  if (array.rank == 0) return "()";
  if (array.rank == 1) return fmt::format("({},)", array.values.rows());
  return fmt::format("({}, {})", array.values.rows(), array.values.cols());
}

void require_all_finite(std::string_view name, const Eigen::Ref<const Eigen::MatrixXd>& values,
                        const Where& where, Eigen::Index first_row) {
  if (values.allFinite()) return;
  for (Eigen::Index i = 0; i < values.rows(); ++i) {
    for (Eigen::Index j = 0; j < values.cols(); ++j) {
      if (std::isfinite(values(i, j))) continue;
      throw InvalidArgument(fmt::format("{} has {} in row {}, column {}", name, values(i, j),
                                        first_row + i + 1, j + 1),
                            "Every entry must be a finite number", where);
    }
  }
}

}  // namespace sfumato
