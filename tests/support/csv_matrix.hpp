#pragma once

#include <Eigen/Core>
#include <initializer_list>
#include <string>
#include <vector>

#include "sfumato/data/csv_writer.hpp"

namespace sfumato::fixtures {

/// A matrix by its rows.
inline Eigen::MatrixXd matrix(std::initializer_list<std::initializer_list<double>> rows) {
  Eigen::MatrixXd result(static_cast<Eigen::Index>(rows.size()),
                         static_cast<Eigen::Index>(rows.begin()->size()));
  Eigen::Index i = 0;
  for (const auto& row : rows) {
    Eigen::Index j = 0;
    for (const double x : row) result(i, j++) = x;
    ++i;
  }
  return result;
}

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

}  // namespace sfumato::fixtures
