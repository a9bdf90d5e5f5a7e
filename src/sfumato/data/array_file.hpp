#pragma once

#include <string>

#include "sfumato/data/array.hpp"

namespace sfumato {

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
