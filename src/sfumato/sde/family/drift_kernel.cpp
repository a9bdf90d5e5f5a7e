#include "sfumato/sde/family/drift_kernel.hpp"

#include "sfumato/math/clones.hpp"

namespace sfumato {
namespace {

constexpr std::size_t kLanes = 16;  // sums of so many points stay in registers

}  // namespace

SFUMATO_CLONES void linear_drift(std::size_t points, std::size_t dimension,
                                 const double* __restrict curvature, const double* __restrict pull,
                                 const double* __restrict at, std::size_t at_stride,
                                 double* __restrict out, std::size_t out_stride) {
  const std::size_t whole = points - points % kLanes;
  for (std::size_t first = 0; first < whole; first += kLanes) {
    for (std::size_t i = 0; i < dimension; ++i) {
      Four sums[kLanes / 4];
      for (Four& sum : sums) sum = Four{} + pull[i];
      for (std::size_t j = 0; j < dimension; ++j) {
        const double* x = at + j * at_stride + first;
        for (std::size_t l = 0; l < kLanes / 4; ++l) {
          Four values;
          SFUMATO_LOAD(values, x + 4 * l);
          sums[l] -= values * curvature[i * dimension + j];
        }
      }
      double* result = out + i * out_stride + first;
      for (std::size_t l = 0; l < kLanes / 4; ++l) SFUMATO_STORE(result + 4 * l, sums[l]);
    }
  }
  for (std::size_t k = whole; k < points; ++k) {
    for (std::size_t i = 0; i < dimension; ++i) {
      double sum = pull[i];
      for (std::size_t j = 0; j < dimension; ++j) {
        sum -= curvature[i * dimension + j] * at[j * at_stride + k];
      }
      out[i * out_stride + k] = sum;
    }
  }
}

SFUMATO_CLONES void polynomial_values(std::size_t points, std::size_t count,
                                      const double* __restrict coefficients,
                                      const double* __restrict at, double* __restrict out) {
  const std::size_t whole = points - points % kLanes;
  for (std::size_t first = 0; first < whole; first += kLanes) {
    Four x[kLanes / 4];
    Four sums[kLanes / 4];
    for (std::size_t l = 0; l < kLanes / 4; ++l) {
      SFUMATO_LOAD(x[l], at + first + 4 * l);
      sums[l] = Four{} + coefficients[count - 1];
    }
    for (std::size_t c = count - 1; c-- > 0;) {
      for (std::size_t l = 0; l < kLanes / 4; ++l) sums[l] = sums[l] * x[l] + coefficients[c];
    }
    for (std::size_t l = 0; l < kLanes / 4; ++l) SFUMATO_STORE(out + first + 4 * l, sums[l]);
  }
  for (std::size_t k = whole; k < points; ++k) {
    double sum = coefficients[count - 1];
    for (std::size_t c = count - 1; c-- > 0;) sum = sum * at[k] + coefficients[c];
    out[k] = sum;
  }
}

}  // namespace sfumato
