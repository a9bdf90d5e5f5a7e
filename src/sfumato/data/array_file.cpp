#include "sfumato/data/array_file.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <utility>

#include "sfumato/core/error.hpp"
#include "sfumato/core/memory.hpp"
#include "sfumato/data/csv.hpp"
#include "sfumato/data/npy.hpp"
#include "sfumato/data/text.hpp"

namespace sfumato {
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
