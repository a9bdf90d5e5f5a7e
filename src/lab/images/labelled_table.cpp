#include "lab/images/labelled_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sfumato/core/error.hpp"
#include "sfumato/data/target_table.hpp"

namespace sfumato::lab {
namespace {

std::uint8_t label_of(const TargetTable& table, Eigen::Index row, int classes) {
  const double value = table.values(row, table.values.cols() - 1);
  const double end = classes > 0 ? classes : 256;
  if (!(value >= 0.0 && value < end) || value != std::floor(value)) {
    throw InvalidArgument(
        fmt::format("the label of row {} is not an integer from 0 to {}", row + 1, end - 1),
        "Number the classes from 0", place_of(table, row));
  }
  return static_cast<std::uint8_t>(value);
}

bool is_number(const std::string& name) {
  return std::all_of(name.begin(), name.end(), [](char c) { return c >= '0' && c <= '9'; });
}

/// Whether columns of numbers are told apart by their places alone: their names are then numbers.
bool goes_by_places(const LabelledSet& like) {
  return is_number(like.label) &&
         std::all_of(like.codings.begin(), like.codings.end(), [](const ColumnCoding& coding) {
           return is_number(coding.column) && coding.kind != ColumnKind::category;
         });
}

TargetTable read_coded(const std::string& path, const LabelledTableOptions& options) {
  if (options.like == nullptr || goes_by_places(*options.like)) {
    return read_target_table(path, {options.label, {}, ""});
  }
  TargetTable like;
  like.names = {options.like->label};
  like.codings = options.like->codings;
  return read_target_table_like(path, like, {}, TableFile::matrix);
}

}  // namespace

LabelledSet read_labelled_table(const std::string& path, const LabelledTableOptions& options) {
  const TargetTable table = read_coded(path, options);
  const Eigen::Index rows = table.values.rows(), columns = table.values.cols() - 1;
  if (columns == 0) {
    throw InvalidArgument("has one column, so no features beside the labels",
                          "Give a column of labels and one feature or more", Where::in(path));
  }
  LabelledSet set;
  set.name = path;
  set.shape = {static_cast<int>(columns), 1, 1};
  std::vector<float> features;
  features.reserve(static_cast<std::size_t>(rows * columns));
  for (Eigen::Index row = 0; row < rows; ++row) {
    for (Eigen::Index column = 0; column < columns; ++column) {
      features.push_back(static_cast<float>(table.values(row, column)));
    }
    set.labels.push_back(label_of(table, row, options.classes));
  }
  set.values = std::move(features);
  set.classes = options.classes > 0
                    ? options.classes
                    : std::max(2, 1 + *std::max_element(set.labels.begin(), set.labels.end()));
  set.standardisation = options.standardisation;
  set.files = {path};
  set.checksum = table.checksum;
  set.codings = table.codings;
  set.label = table.target();
  require_consistent(set);
  return set;
}

}  // namespace sfumato::lab
