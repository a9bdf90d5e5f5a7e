#pragma once

#include <Eigen/Core>
#include <string>
#include <vector>

#include "sfumato/data/csv_writer.hpp"

namespace sfumato::testing {

/// A matrix as a CSV file with a header row.
inline void write_csv_matrix(const std::string& path, const std::vector<std::string>& columns,
                             const Eigen::MatrixXd& rows) {
  CsvWriter out(path, columns);
  for (Eigen::Index i = 0; i < rows.rows(); ++i) {
    for (Eigen::Index j = 0; j < rows.cols(); ++j) out.number(rows(i, j));
    out.end_row();
  }
  out.commit();
}

}  // namespace sfumato::testing
