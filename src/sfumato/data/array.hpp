#pragma once

#include <Eigen/Core>
#include <string>
#include <string_view>

#include "sfumato/core/error.hpp"

namespace sfumato {

/// A number, vector or matrix from a file. A vector is one column; a number is 1 x 1.
struct Array {
  Eigen::MatrixXd values;
  int rank = 2;  ///< 0, 1 or 2: how many axes the file gave it
};

[[nodiscard]] Array scalar_array(double value);
[[nodiscard]] Array vector_array(const Eigen::VectorXd& values);
[[nodiscard]] Array matrix_array(const Eigen::MatrixXd& values);

/// The shape as NumPy prints it: "()", "(3,)" or "(3, 4)".
[[nodiscard]] std::string shape_text(const Array& array);

/// Throws   InvalidArgument with the row and column (from 1) of the first NaN or infinity; rows are
///          counted from `first_row` where the values are part of a larger array.
void require_all_finite(std::string_view name, const Eigen::Ref<const Eigen::MatrixXd>& values,
                        const Where& where = Where::here(), Eigen::Index first_row = 0);

}  // namespace sfumato
