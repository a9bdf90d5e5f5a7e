#include "sfumato/data/adjacency.hpp"

#include <fmt/format.h>

#include <utility>

#include "sfumato/core/check.hpp"
#include "sfumato/core/suggest.hpp"
#include "sfumato/data/array.hpp"
#include "sfumato/data/text.hpp"

namespace sfumato {

std::string_view name(Adjacency adjacency) {
  switch (adjacency) {
    case Adjacency::remove: return "remove";
    case Adjacency::replace: return "replace";
  }
  throw InternalError("unknown adjacency");
}

Adjacency parse_adjacency(std::string_view text, const Where& where) {
  for (const Adjacency adjacency : {Adjacency::remove, Adjacency::replace}) {
    if (text == name(adjacency)) return adjacency;
  }
  throw InvalidArgument(fmt::format("the adjacency {} is unknown", shown(text)),
                        suggestion(text, {"remove", "replace"}, "adjacencies"), where);
}

RecordChange remove_row(Eigen::Index row) { return {Adjacency::remove, row, {}}; }

RecordChange replace_row(Eigen::Index row, Eigen::VectorXd other) {
  return {Adjacency::replace, row, std::move(other)};
}

Eigen::MatrixXd neighbour(const Eigen::MatrixXd& records, const RecordChange& change) {
  if (change.row < 0 || change.row >= records.rows()) {
    throw InvalidArgument(
        fmt::format("there is no row {} among {} records", change.row, records.rows()),
        "Rows count from 0");
  }
  if (change.adjacency == Adjacency::replace) {
    require_size("the other record", change.other.size(), records.cols());
    require_all_finite("the other record", change.other);
    Eigen::MatrixXd result = records;
    result.row(change.row) = change.other.transpose();
    return result;
  }
  require_size("the other record", change.other.size(), 0);
  if (records.rows() == 1) {
    throw InvalidArgument("removing the only record leaves an empty table",
                          "Give two records or more");
  }
  Eigen::MatrixXd result(records.rows() - 1, records.cols());
  result.topRows(change.row) = records.topRows(change.row);
  const Eigen::Index below = records.rows() - 1 - change.row;
  result.bottomRows(below) = records.bottomRows(below);
  return result;
}

}  // namespace sfumato
