#include "sfumato/design/differences.hpp"

#include <fmt/format.h>

#include <cmath>

#include "sfumato/design/task_rules.hpp"

namespace sfumato {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

void require_differences(const Differences& differences) {
  const Where where = Where::here("differences");
  if (differences.rows() == 0 || differences.cols() == 0) {
    throw InvalidArgument(
        fmt::format("{} differences of {} coordinates", differences.rows(), differences.cols()),
        "Give at least one difference", where);
  }
  const VectorXd ones = VectorXd::Ones(differences.cols());
  for (Index k = 0; k < differences.rows(); ++k) {
    const double* row = differences.row(k).data();
    const double squares = sum_of_weighted_squares(row, ones.data(), ones.size());
    if (std::isfinite(squares) && squares > 0.0) continue;
    for (Index i = 0; i < differences.cols(); ++i) {
      if (std::isfinite(row[i])) continue;
      throw InvalidArgument(fmt::format("difference {}, coordinate {} is {}", k + 1, i + 1, row[i]),
                            "Remove NaN and infinite entries", where);
    }
    if (squares == 0.0 && differences.row(k).isZero(0.0)) {
      throw InvalidArgument(fmt::format("difference {} is zero in all coordinates", k + 1),
                            "Leave out pairs of data sets with equal gradients", where);
    }
    throw InvalidArgument(
        fmt::format("the squares of difference {} leave the range of doubles", k + 1),
        "Rescale the differences to a size near one", where);
  }
}

Diagonal second_moments(const Differences& differences) {
  require_differences(differences);
  VectorXd sums = VectorXd::Zero(differences.cols());
  const double share = 1.0 / static_cast<double>(differences.rows());
  for (Index k = 0; k < differences.rows(); ++k) {
    add_weighted_squares(differences.row(k).data(), share, sums.data(), sums.size());
  }
  return {sums};
}

Covariance second_moment_matrix(const Differences& differences) {
  require_differences(differences);
  const double root = 1.0 / std::sqrt(static_cast<double>(differences.rows()));
  if (differences.rows() < differences.cols()) {
    return Factored{VectorXd::Zero(differences.cols()), root * differences.transpose()};
  }
  MatrixXd moments = MatrixXd::Zero(differences.cols(), differences.cols());
  moments.selfadjointView<Eigen::Lower>().rankUpdate(differences.transpose(), root * root);
  moments.triangularView<Eigen::StrictlyUpper>() = moments.transpose();
  return Dense{moments};
}

Diagonal second_moments_of_box(const VectorXd& sensitivities) {
  for (Index i = 0; i < sensitivities.size(); ++i) {
    if (std::isfinite(sensitivities(i)) && sensitivities(i) >= 0.0) continue;
    throw InvalidArgument(fmt::format("sensitivity {} is {}", i + 1, sensitivities(i)),
                          "Sensitivities are finite and not negative");
  }
  if (!(sensitivities.array() > 0.0).any()) {
    throw InvalidArgument("all sensitivities are zero", "Nothing needs noise");
  }
  return {sensitivities.cwiseAbs2()};
}

}  // namespace sfumato
