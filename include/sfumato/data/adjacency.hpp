#pragma once

#include <Eigen/Core>
#include <optional>
#include <string_view>

namespace sfumato {

/// How D' differs from D in one record: it lacks it, or has another in its place.
enum class Adjacency { remove, replace };

/// "remove" or "replace".
[[nodiscard]] std::string_view name(Adjacency adjacency);

/// One row of a table: what stands there, or what is put in its place.
struct Record {
  Eigen::VectorXd features;
  double target;
};

/// D' of a table D: it lacks one row, or has another record in its place.
struct Neighbour {
  Eigen::Index row;  ///< of D, from 0
  std::optional<Record> replacement = {};
};

}  // namespace sfumato
