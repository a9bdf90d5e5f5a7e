#pragma once

#include <Eigen/Core>
#include <optional>
#include <string>
#include <vector>

#include "sfumato/data/file_view.hpp"

namespace sfumato {

/// A matrix of finite numbers from a file, row by row, that is in memory once at most: an NPY file of
/// doubles in C order is read where it is mapped, other files are converted as they are read.
class RowMatrix {
 public:
  using View =
      Eigen::Map<const Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>;

  [[nodiscard]] View view() const { return {data_, rows_, cols_}; }
  [[nodiscard]] Eigen::Index rows() const { return rows_; }
  [[nodiscard]] Eigen::Index cols() const { return cols_; }

 private:
  friend RowMatrix read_row_matrix(const std::string& path);

  const double* data_ = nullptr;
  Eigen::Index rows_ = 0;
  Eigen::Index cols_ = 0;
  std::vector<double> owned_;     ///< moves keep the place of its elements
  std::optional<FileView> file_;  ///< where data_ points into the file
};

/// Reads CSV (as read_csv_matrix) or NPY (as read_npy), told by the suffix. A vector of an NPY file is
/// one row.
///
/// Throws   InvalidArgument as those readers, for another suffix, and with row and column for NaN or
///          an infinity.
[[nodiscard]] RowMatrix read_row_matrix(const std::string& path);

}  // namespace sfumato
