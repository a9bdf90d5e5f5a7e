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

/// An array of finite numbers from a file of either kind, told by the suffix: NPY as read_npy(), CSV as
/// read_csv_matrix(), where a single row or column is a vector.
///
/// Throws   InvalidArgument as those readers, as require_all_finite(), or for any other suffix.
[[nodiscard]] Array read_array(const std::string& path);

/// The suffix of an array file, ".csv" or ".npy".
/// Throws   InvalidArgument for any other.
[[nodiscard]] std::string array_suffix(const std::string& path);

/// The suffix of a path in lower case, with its dot: ".npz"; empty if there is none.
[[nodiscard]] std::string suffix_of(const std::string& path);

}  // namespace sfumato
