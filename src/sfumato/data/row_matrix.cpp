#include "sfumato/data/row_matrix.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <utility>

#include "sfumato/core/error.hpp"
#include "sfumato/data/array.hpp"
#include "sfumato/data/csv.hpp"
#include "sfumato/data/file_input.hpp"
#include "sfumato/data/npy.hpp"

namespace sfumato {

namespace {

/// Half of the memory of this machine, if that is more than other files may take: what is read stays
/// in memory while the rows are gone through.
std::uint64_t largest_matrix() {
  const long pages = ::sysconf(_SC_PHYS_PAGES), page = ::sysconf(_SC_PAGESIZE);
  if (pages <= 0 || page <= 0) return kLargestFile;
  return std::max(kLargestFile,
                  static_cast<std::uint64_t>(pages) / 2 * static_cast<std::uint64_t>(page));
}

}  // namespace

RowMatrix read_row_matrix(const std::string& path) {
  const std::string suffix = array_suffix(path);
  std::string file = read_file(path, largest_matrix());
  RowMatrix matrix;
  if (suffix == ".csv") {
    CsvRows csv = parse_csv_rows(file, path);
    matrix.rows_ = csv.rows;
    matrix.cols_ = csv.cols;
    matrix.owned_ = std::move(csv.values);
    matrix.data_ = matrix.owned_.data();
    return matrix;  // finite already
  }
  NpyRows npy = parse_npy_rows(file, path);
  matrix.rows_ = npy.rows;
  matrix.cols_ = npy.cols;
  matrix.owned_ = std::move(npy.converted);
  matrix.data_ = npy.in_place != nullptr ? npy.in_place : matrix.owned_.data();
  if (npy.in_place != nullptr) matrix.file_ = std::move(file);
  for (Eigen::Index k = 0; k < matrix.rows_; ++k) {
    require_all_finite("the array", matrix.view().row(k), Where::in(path), k);
  }
  return matrix;
}

}  // namespace sfumato
