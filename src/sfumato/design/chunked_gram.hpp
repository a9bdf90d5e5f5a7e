#pragma once

#include <Eigen/Core>
#include <functional>

namespace sfumato {

/// Fills rows [first_row, last_row) of `chunk` with columns [first, first + chunk.cols()) of a
/// matrix that is too wide to be kept.
using FillColumns = std::function<void(Eigen::Index first, Eigen::Index first_row,
                                       Eigen::Index last_row, Eigen::MatrixXd& chunk)>;

/// Z Z^T for a matrix Z of rows x columns that is made a thousand columns at a time. The same bits
/// for any number of threads (0: as many as the machine has).
[[nodiscard]] Eigen::MatrixXd chunked_gram(Eigen::Index rows, Eigen::Index columns,
                                           const FillColumns& fill, unsigned threads);

}  // namespace sfumato
