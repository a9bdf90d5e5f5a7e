#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <vector>

#include "sfumato/account/accountant/release_grid.hpp"
#include "sfumato/core/observer.hpp"
#include "sfumato/fit/bounded_rows.hpp"
#include "sfumato/fit/noise_mode.hpp"
#include "sfumato/random/release_bits.hpp"

namespace sfumato {

/// Rows z with a quantity or the number of a class, -1: a null record. Every record contributes the gradient of its own loss:
/// (z.u - y) z,  (p - y) z  or  z (p - e_y)^T.
struct DescentRows {
  const RowMajor& z;
  const Eigen::VectorXd& target;
  FitModel model;
};

/// Gradient descent from 0 on the mean loss of all rows; each record's gradient is clipped, and noise added to their sum (Spec §22.4). Every iterate is
/// public, hence their average is free.
struct DescentPlan {
  double learning_rate;
  std::uint64_t steps;
  std::uint64_t average_last;  ///< iterates that the result is the mean of, 1 to steps
  double noise_multiplier;     ///< deviation of the noise over the clip
  double clip;
  double rows;  ///< N, by which sums are divided: the declared number, never that of the matrix
  double ridge = 0.0;  ///< of (ridge/2) |u|^2, added to the loss
  NoiseMode mode = NoiseMode::grid;
};

/// One step as the world sees it.
struct ReleasedStep {
  Eigen::MatrixXd at;   ///< before the step
  Eigen::MatrixXd sum;  ///< of clipped gradients, with noise
};

/// The result has a column for each class but, of two, only that of the second.
/// Throws   InvalidArgument as sum_grid(); Stopped if the observer asks to stop.
[[nodiscard]] Eigen::MatrixXd noisy_descent(const DescentRows& rows, Eigen::Index classes,
                                            const DescentPlan& plan, ReleaseBits& bits,
                                            Observer& observer,
                                            std::vector<ReleasedStep>* trace = nullptr);

/// The sum of one step before noise, in grid units or not, for tests of sensitivity and audits.
[[nodiscard]] Eigen::MatrixXd clipped_gradient_sum(const DescentRows& rows,
                                                   const Eigen::MatrixXd& at, double clip,
                                                   const RoundingGrid* grid, Observer& observer);

/// How long each record's clipped gradient is at these parameters.
[[nodiscard]] Eigen::VectorXd clipped_gradient_norms(const DescentRows& rows,
                                                     const Eigen::MatrixXd& at, double clip);

/// Columns of the parameters: 1, or the number of classes where they are more than two.
[[nodiscard]] Eigen::Index outputs_of(FitModel model, Eigen::Index classes);

}  // namespace sfumato
