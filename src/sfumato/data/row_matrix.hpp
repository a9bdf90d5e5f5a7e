#pragma once

#include <Eigen/Core>
#include <string>
#include <vector>

namespace sfumato {

/// A matrix of finite numbers from a file, row by row, that is in memory once at most: an NPY file of
/// doubles in C order is used as it was read, other files are converted.
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
  std::vector<double> owned_;  ///< moves keep the place of its elements
  std::string file_;  ///< where data_ points into it: longer than what a string keeps inside
                      ///< itself, so that moves keep its place too
};

/// Reads CSV (as read_csv_matrix) or NPY (as read_npy), told by the suffix. A vector of an NPY file is
/// one row.
///
/// Throws   InvalidArgument as those readers, for another suffix, and with row and column for NaN or
///          an infinity. A file may take half of the memory of the machine, and 4 GiB at least.
[[nodiscard]] RowMatrix read_row_matrix(const std::string& path);

}  // namespace sfumato
