#pragma once

#include <Eigen/Core>

#include "sfumato/design/design.hpp"

namespace sfumato {

/// sums_i += weight row_i^2.
void add_weighted_squares(const double* row, double weight, double* sums, Eigen::Index count);

/// sum_i weights_i row_i^2, added in an order that depends on `count` alone.
[[nodiscard]] double sum_of_weighted_squares(const double* row, const double* weights,
                                             Eigen::Index count);

/// What average and minimax designs check and compute alike.

/// Least variance in whitened coordinates, for the full forms: W is a multiple of I if there is one.
[[nodiscard]] double whitened_floor(const DesignTask& task);

/// The cost of v I that spends the whole budget, from |s|^2 (its mean or largest); +inf if v is
/// below a floor.
[[nodiscard]] double isotropic_value(double squared_length, const DesignTask& task);

/// Throws InvalidArgument if differences along one line are to be hidden by full noise that has
/// neither floor nor regularisation (Spec §9.2).
void refuse_single_direction(Eigen::Index rank, Eigen::Index dimension, bool everywhere);

/// Throws InvalidArgument if the low-rank form is asked for moments that are not thin, or without
/// noise outside their span.
void refuse_wrong_low_rank(const DesignTask& task, const Covariance& second_moments);
void refuse_wrong_low_rank(const DesignTask& task, Eigen::Index rank, Eigen::Index dimension);

}  // namespace sfumato
