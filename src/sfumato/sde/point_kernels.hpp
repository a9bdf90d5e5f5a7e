#pragma once

#include <cstddef>
#include <span>

#include "sfumato/sde/diffusion.hpp"

namespace sfumato {

/// Inner loops over many points, vectorised for the processor at hand. Each point's result is the
/// same bits in any block and on any machine: sums run in a fixed order, nothing is fused.
/// Unchecked; columns are contiguous and do not overlap.

/// States beyond this count as diverged: squares and cubes of smaller ones are still numbers or
/// turn infinite, which the next step notices.
inline constexpr double kDivergedBeyond = 1e150;

/// next = x + step * drift + scale * normals for one coordinate of `count` points.
/// Returns  how many results are not within +-kDivergedBeyond (NaN is not).
[[nodiscard]] std::size_t euler_step(std::size_t count, const double* x, const double* drift,
                                     double step, const float* normals, double scale, double* next);
/// The same with double noise.
[[nodiscard]] std::size_t euler_step(std::size_t count, const double* x, const double* drift,
                                     double step, const double* noise, double scale, double* next);

/// sum += weight * (a - b)^2
void add_squared_difference(std::size_t count, const double* a, const double* b, double weight,
                            double* sum);

/// sum = factor * (sum + term)
void add_and_scale(std::size_t count, const double* term, double factor, double* sum);

/// Row j of `out` = offset + matrix * (row j of `in`), for all rows; matrix is out.cols() x in.cols().
void linear_map(const Eigen::MatrixXd& matrix, const Eigen::VectorXd& offset, const ConstPoints& in,
                MutablePoints out);

/// out = c_0 + x (c_1 + x (c_2 + ...)); at least one coefficient.
void polynomial(std::span<const double> coefficients, std::size_t count, const double* x,
                double* out);

}  // namespace sfumato
