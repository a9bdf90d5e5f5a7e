#pragma once

#include <Eigen/Core>
#include <string_view>

#include "sfumato/core/error.hpp"

namespace sfumato {

/// How D' differs from D in one record: it lacks it, or has another in its place.
enum class Adjacency { remove, replace };

/// "remove" or "replace".
[[nodiscard]] std::string_view name(Adjacency adjacency);

/// The adjacency of that name.
/// Throws   InvalidArgument at `where` otherwise.
[[nodiscard]] Adjacency parse_adjacency(std::string_view text, const Where& where = Where::here());

/// The record in which D and D' differ. Problems with a low-rank update use it as it is; neighbour()
/// spells D' out.
struct RecordChange {
  Adjacency adjacency = Adjacency::remove;
  Eigen::Index row = 0;        ///< of D, from 0
  Eigen::VectorXd other = {};  ///< the record of D' in its place; empty for remove
};

[[nodiscard]] RecordChange remove_row(Eigen::Index row);
[[nodiscard]] RecordChange replace_row(Eigen::Index row, Eigen::VectorXd other);

/// D' for the records (rows) of D.
///
/// Throws   InvalidArgument if D has no such row, `other` has not D's number of columns or is not finite,
///          or removing the row would leave no record.
[[nodiscard]] Eigen::MatrixXd neighbour(const Eigen::MatrixXd& records, const RecordChange& change);

}  // namespace sfumato
