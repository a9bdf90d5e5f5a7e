#include "sfumato/data/array.hpp"

#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <utility>

#include "sfumato/core/error.hpp"
#include "sfumato/core/memory.hpp"
#include "sfumato/data/csv.hpp"
#include "sfumato/data/npy.hpp"
#include "sfumato/data/text.hpp"

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

namespace {

constexpr double kTimesFile =
    5.0;  // what `audit` takes beside a file of scores: its numbers, sorted copies, ranks

}  // namespace

std::string suffix_of(const std::string& path) {
  std::string suffix = std::filesystem::path(path).extension().string();
  for (char& c : suffix) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return suffix;
}

std::string array_suffix(const std::string& path) {
  std::string suffix = suffix_of(path);
  if (suffix == ".csv" || suffix == ".npy") return suffix;
  throw InvalidArgument(fmt::format("the suffix of {} is neither .csv nor .npy", shown(path)),
                        "Give a CSV or NPY file", Where::here("array file"));
}

Array read_array(const std::string& path) {
  const std::string suffix = array_suffix(path);
  std::error_code unknown;
  const std::uintmax_t bytes = std::filesystem::file_size(path, unknown);
  if (!unknown) {
    require_memory(kTimesFile * static_cast<double>(bytes), "an array of this size",
                   "Use fewer numbers, or a machine with more memory", Where::in(path));
  }
  Array array;
  if (suffix == ".npy") {
    array = read_npy(path);
  } else {
    array.values = read_csv_matrix(path).values;
    if (array.values.rows() == 1 || array.values.cols() == 1) {
      array.rank = 1;
      array.values = Eigen::MatrixXd(array.values.reshaped());
    }
  }
  require_all_finite("the array", array.values, Where::in(path));
  return array;
}

}  // namespace sfumato
