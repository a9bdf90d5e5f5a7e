#include "sfumato/sde/point_kernels.hpp"

#include "sfumato/core/vector_clones.hpp"

namespace sfumato {
namespace {

/// One pass: a point is bad unless its result lies within the limit.
template <class Noise>
[[gnu::always_inline]] inline std::size_t step_loop(std::size_t count, const double* __restrict x,
                                                    const double* __restrict drift, double step,
                                                    const Noise* __restrict noise, double scale,
                                                    double* __restrict next) {
  std::size_t bad = 0;
  for (std::size_t j = 0; j < count; ++j) {
    const double y = x[j] + step * drift[j] + scale * static_cast<double>(noise[j]);
    next[j] = y;
    bad += __builtin_fabs(y) <= kDivergedBeyond ? 0U : 1U;
  }
  return bad;
}

constexpr std::size_t kTile = 8;  // points: two Fours

/// `Rows` outputs of kTile points at once: each input is loaded once for all of them, and the sums
/// (ten Fours for five rows) stay in registers.
template <std::size_t Rows>
[[gnu::always_inline]] inline void map_tile(const double* matrix, std::size_t matrix_stride,
                                            const double* offset, const double* in,
                                            std::size_t in_stride, std::size_t columns, double* out,
                                            std::size_t out_stride) {
  Four low[Rows];
  Four high[Rows];
#pragma GCC unroll 8
  for (std::size_t r = 0; r < Rows; ++r) {
    const Four start = Four{} + offset[r];
    low[r] = start;
    high[r] = start;
  }
  for (std::size_t c = 0; c < columns; ++c) {
    Four left;
    Four right;
    SFUMATO_LOAD(left, in + c * in_stride);
    SFUMATO_LOAD(right, in + c * in_stride + 4);
#pragma GCC unroll 8
    for (std::size_t r = 0; r < Rows; ++r) {
      const double factor = matrix[c * matrix_stride + r];
      low[r] += factor * left;
      high[r] += factor * right;
    }
  }
#pragma GCC unroll 8
  for (std::size_t r = 0; r < Rows; ++r) {
    SFUMATO_STORE(out + r * out_stride, low[r]);
    SFUMATO_STORE(out + r * out_stride + 4, high[r]);
  }
}

SFUMATO_VECTOR_CLONES
void map_points(const double* matrix, std::size_t rows, std::size_t columns, const double* offset,
                const double* in, std::size_t in_stride, std::size_t count, double* out,
                std::size_t out_stride) {
  std::size_t first = 0;
  for (; first + kTile <= count; first += kTile) {
    std::size_t r = 0;
    for (; r + 5 <= rows; r += 5) {
      map_tile<5>(matrix + r, rows, offset + r, in + first, in_stride, columns,
                  out + first + r * out_stride, out_stride);
    }
    for (; r < rows; ++r) {
      map_tile<1>(matrix + r, rows, offset + r, in + first, in_stride, columns,
                  out + first + r * out_stride, out_stride);
    }
  }
  for (; first < count; ++first) {
    for (std::size_t r = 0; r < rows; ++r) {
      double sum = offset[r];
      for (std::size_t c = 0; c < columns; ++c) {
        sum += matrix[c * rows + r] * in[first + c * in_stride];
      }
      out[first + r * out_stride] = sum;
    }
  }
}

}  // namespace

SFUMATO_VECTOR_CLONES
std::size_t euler_step(std::size_t count, const double* x, const double* drift, double step,
                       const float* normals, double scale, double* next) {
  return step_loop(count, x, drift, step, normals, scale, next);
}

SFUMATO_VECTOR_CLONES
std::size_t euler_step(std::size_t count, const double* x, const double* drift, double step,
                       const double* noise, double scale, double* next) {
  return step_loop(count, x, drift, step, noise, scale, next);
}

SFUMATO_VECTOR_CLONES
void add_squared_difference(std::size_t count, const double* __restrict a,
                            const double* __restrict b, double weight, double* __restrict sum) {
  for (std::size_t j = 0; j < count; ++j) {
    const double difference = a[j] - b[j];
    sum[j] += weight * (difference * difference);
  }
}

SFUMATO_VECTOR_CLONES
void add_and_scale(std::size_t count, const double* __restrict term, double factor,
                   double* __restrict sum) {
  for (std::size_t j = 0; j < count; ++j) sum[j] = factor * (sum[j] + term[j]);
}

void linear_map(const Eigen::MatrixXd& matrix, const Eigen::VectorXd& offset, const ConstPoints& in,
                MutablePoints out) {
  const auto size = [](Eigen::Index n) { return static_cast<std::size_t>(n); };
  map_points(matrix.data(), size(matrix.rows()), size(matrix.cols()), offset.data(), in.data(),
             size(in.outerStride()), size(in.rows()), out.data(), size(out.outerStride()));
}

SFUMATO_VECTOR_CLONES
void polynomial(std::span<const double> coefficients, std::size_t count, const double* __restrict x,
                double* __restrict out) {
  const std::size_t degree = coefficients.size() - 1;
  const double* c = coefficients.data();
  if (degree == 3) {  // potentials of degree four, which double wells are
    const double c0 = c[0], c1 = c[1], c2 = c[2], c3 = c[3];
    for (std::size_t j = 0; j < count; ++j) out[j] = c0 + x[j] * (c1 + x[j] * (c2 + x[j] * c3));
    return;
  }
  for (std::size_t j = 0; j < count; ++j) out[j] = c[degree];
  for (std::size_t k = degree; k-- > 0;) {
    const double lower = c[k];
    for (std::size_t j = 0; j < count; ++j) out[j] = lower + x[j] * out[j];
  }
}

}  // namespace sfumato
