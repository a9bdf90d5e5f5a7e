#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <span>
#include <vector>

#include "lab/nn/clipping.hpp"
#include "lab/nn/network.hpp"
#include "sfumato/core/loss_scale.hpp"

namespace sfumato::lab {

/// Losses of a network and their derivatives in double precision, by plain backpropagation: the
/// reference of the fast engine, and what the quantities along training are made of. The loss is
/// softmax cross-entropy. Derivatives of ReLU and of maxima are those of the side they are on (0 at 0;
/// the first of equal pixels), as everywhere in deep learning.
///
/// All throw   InvalidArgument if the parameters, a direction or a record have the wrong size, or a
///             label is not a class. Values that are not finite give results that are not finite.

/// One record; does not own its values.
struct LabelledRecord {
  std::span<const double> values;  ///< as network.hpp stores them: pixel by pixel, channels fastest
  std::size_t label = 0;           ///< from 0
};

struct RecordGradient {
  double loss;
  std::vector<double> logits;
  std::vector<double> gradient;  ///< in the parameters
};
[[nodiscard]] RecordGradient record_gradient(const Network& network,
                                             std::span<const double> parameters,
                                             const LabelledRecord& record);

/// Over several records: their sum, or the sum divided by their number. A record without values is an
/// empty slot (Spec §10: one masked row): it adds nothing, and it is counted.
/// Throw   InvalidArgument also for the mean of no records.
struct BatchGradient {
  double loss;
  std::vector<double> gradient;
};
[[nodiscard]] BatchGradient batch_gradient(const Network& network,
                                           std::span<const double> parameters,
                                           std::span<const LabelledRecord> records,
                                           LossScale scale);
/// Hessian (in the parameters) times `direction`.
[[nodiscard]] std::vector<double> hessian_product(const Network& network,
                                                  std::span<const double> parameters,
                                                  std::span<const LabelledRecord> records,
                                                  LossScale scale,
                                                  std::span<const double> direction);
/// Row l is the gradient of record l: records x parameters. What minibatch_covariance takes.
[[nodiscard]] Eigen::MatrixXd record_gradients(const Network& network,
                                               std::span<const double> parameters,
                                               std::span<const LabelledRecord> records);

/// A point of record space: the values, then the share of each class in the label. The loss is linear
/// in the shares, so that records with different labels too have a straight line between them.
[[nodiscard]] std::vector<double> record_point(const Network& network,
                                               const LabelledRecord& record);

/// Gradient in the parameters at a point of record space.
[[nodiscard]] std::vector<double> point_gradient(const Network& network,
                                                 std::span<const double> parameters,
                                                 std::span<const double> point);

/// The mixed derivative  J = d/d(point) grad_parameters loss  (parameters x record space) of one
/// record times a direction of record space: how the gradient moves as the record does.
[[nodiscard]] std::vector<double> mixed_product(const Network& network,
                                                std::span<const double> parameters,
                                                std::span<const double> point,
                                                std::span<const double> direction);
/// J^T times a direction of the parameters.
[[nodiscard]] std::vector<double> mixed_transposed_product(const Network& network,
                                                           std::span<const double> parameters,
                                                           std::span<const double> point,
                                                           std::span<const double> direction);

struct ClippedSum {
  std::vector<double> sum;  ///< of the clipped gradients
  std::vector<double>
      norms;  ///< before clipping, of each record; +inf or NaN where the gradient is not finite
  std::size_t zeroed = 0;  ///< records whose gradient is not finite
};

/// The sum of the records' gradients, each clipped by itself (clipping.hpp), in double precision and with no margin: the reference of the
/// fast engine. `inverse_variances` make the metric of the norms; empty: Euclidean. A record without values adds nothing.
///
/// Throws   InvalidArgument as record_gradient().
[[nodiscard]] ClippedSum clipped_gradient(const Network& network,
                                          std::span<const double> parameters,
                                          std::span<const LabelledRecord> records,
                                          const Clipping& clipping,
                                          std::span<const float> inverse_variances = {});

/// The norm of clipping.hpp of the part of a gradient in one block.
[[nodiscard]] double block_norm(const ParameterBlock& block, std::span<const double> gradient,
                                std::span<const float> inverse_variances);

}  // namespace sfumato::lab
