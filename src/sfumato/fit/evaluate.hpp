#pragma once

#include <Eigen/Core>

#include "sfumato/fit/bounded_rows.hpp"
#include "sfumato/fit/held_out.hpp"
#include "sfumato/fit/noise_mode.hpp"
#include "sfumato/random/release_bits.hpp"

namespace sfumato {

/// R^2 from noisy sums of l/L, y/Y and y^2/Y^2 over n rows, l = min((y - prediction)^2, L), and its standard errors (Spec §22.8).
struct PrivateR2 {
  double r2;
  double privacy_error;  ///< standard error by the noise
  double error;          ///< with sampling
  double variance;       ///< n times the variance of y that was found
  bool resolved;         ///< the variance stands out of the noise
};
[[nodiscard]] PrivateR2 private_r2(double loss_sum, double y_sum, double y2_sum, double n,
                                   double loss_bound, double target_bound, double noise_std);

/// A fit that held-out rows are asked about, and what the answer may cost them.
struct Evaluation {
  FitModel model;
  const Eigen::MatrixXd& parameters;
  double centre;  ///< a public guess of the mean of a quantity
  double mu;      ///< of Gaussian privacy
  NoiseMode mode;
};

/// The loss, or accuracy, of the fit on held-out rows of this table.
/// Throws   as noisy_sum().
[[nodiscard]] HeldOut evaluate(const BoundedRows& rows, const PublicTable& table,
                               const Evaluation& of, ReleaseBits& bits);

}  // namespace sfumato
