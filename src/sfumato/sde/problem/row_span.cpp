#include "sfumato/sde/problem/row_span.hpp"

#include <utility>

#include "sfumato/sde/problem/triangularise.hpp"

namespace sfumato {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

RowSpan span_of_rows(const RidgeProblem& problem, const std::optional<Record>& replacement,
                     bool last_first, const Observer& observer) {
  const Index rows = problem.rows();
  const Index vectors = rows + (replacement ? 1 : 0);
  MatrixXd columns(problem.parameters(), vectors);  // the rows as columns
  VectorXd target(rows);
  for (Index row = 0; row < rows; ++row) {
    const Record record = problem.record(row);
    columns.col(row) = record.features;
    target(row) = record.target;
  }
  if (replacement) columns.col(rows) = replacement->features;
  if (last_first) columns = columns.colwise().reverse().eval();
  triangularise<double>(columns, vectors, observer);
  const MatrixXd triangle = columns.topRows(vectors).triangularView<Eigen::Upper>();
  RowSpan span{
      {triangle.leftCols(rows).transpose(), std::move(target), problem.options(), observer}, {}};
  if (replacement) span.replacement = Record{triangle.col(rows), replacement->target};
  return span;
}

}  // namespace sfumato
