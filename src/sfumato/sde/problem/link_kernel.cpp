#include "sfumato/sde/problem/link_kernel.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

#include "sfumato/core/vector_clones.hpp"

namespace sfumato {
namespace {

constexpr std::size_t kLanes = 16;  // sums of so many rows stay in registers

/// e^x for x <= 0 without branches or calls, so that loops over it become vector code: 2^k e^r with
/// |r| <= log(2)/2 and the Taylor polynomial of degree 13 (remainder below 5e-18). Below -708 the
/// result is e^-708, about 3e-308: nothing next to the 1 it is added to.
[[gnu::always_inline]] inline double exp_of_negative(double x) {
  constexpr double kLog2E = 1.4426950408889634;
  constexpr double kLn2High = 6.93147180369123816490e-01;  // 32 bits: k times it is exact
  constexpr double kLn2Low = 1.90821492927058770002e-10;
  constexpr double kRound = 6755399441055744.0;  // 1.5 * 2^52: the sum rounds to a whole number
  x = x < -708.0 ? -708.0 : x;
  const double shifted = x * kLog2E + kRound;
  const double k = shifted - kRound;
  const double r = (x - k * kLn2High) - k * kLn2Low;
  double p = 1.0 / 6227020800.0;
  p = p * r + 1.0 / 479001600.0;
  p = p * r + 1.0 / 39916800.0;
  p = p * r + 1.0 / 3628800.0;
  p = p * r + 1.0 / 362880.0;
  p = p * r + 1.0 / 40320.0;
  p = p * r + 1.0 / 5040.0;
  p = p * r + 1.0 / 720.0;
  p = p * r + 1.0 / 120.0;
  p = p * r + 1.0 / 24.0;
  p = p * r + 1.0 / 6.0;
  p = p * r + 0.5;
  p = p * r + 1.0;
  p = p * r + 1.0;
  // The low bits of `shifted` hold k; moved to the exponent they make 2^k.
  const auto bits = (std::bit_cast<std::uint64_t>(shifted) + 1023U) << 52U;
  return p * std::bit_cast<double>(bits);
}

}  // namespace

SFUMATO_VECTOR_CLONES
void logistic_in_place(std::size_t count, double* __restrict z) {
  for (std::size_t i = 0; i < count; ++i) {
    const double e = exp_of_negative(-std::abs(z[i]));
    const double numerator = z[i] < 0.0 ? e : 1.0;
    z[i] = numerator / (1.0 + e);
  }
}

SFUMATO_VECTOR_CLONES
void softmax_in_place(std::size_t count, std::size_t classes, double* __restrict z) {
  constexpr std::size_t kBlock = 256;
  double largest[kBlock];
  double total[kBlock];
  for (std::size_t first = 0; first < count; first += kBlock) {
    const std::size_t n = std::min(kBlock, count - first);
    for (std::size_t i = 0; i < n; ++i) {
      largest[i] = z[first + i];
      total[i] = 0.0;
    }
    for (std::size_t k = 1; k < classes; ++k) {
      const double* column = z + k * count + first;
      for (std::size_t i = 0; i < n; ++i) {
        largest[i] = column[i] > largest[i] ? column[i] : largest[i];
      }
    }
    for (std::size_t k = 0; k < classes; ++k) {
      double* column = z + k * count + first;
      for (std::size_t i = 0; i < n; ++i) {
        column[i] = exp_of_negative(column[i] - largest[i]);
        total[i] += column[i];
      }
    }
    for (std::size_t k = 0; k < classes; ++k) {
      double* column = z + k * count + first;
      for (std::size_t i = 0; i < n; ++i) column[i] /= total[i];
    }
  }
}

SFUMATO_VECTOR_CLONES
void row_scores(std::size_t count, std::size_t features, const double* __restrict x,
                std::size_t stride, const double* __restrict w, double* __restrict out) {
  const std::size_t whole = count - count % kLanes;
  for (std::size_t first = 0; first < whole; first += kLanes) {
    Four sums[kLanes / 4] = {};
    for (std::size_t i = 0; i < features; ++i) {
      const double* column = x + i * stride + first;
      for (std::size_t l = 0; l < kLanes / 4; ++l) {
        Four values;
        SFUMATO_LOAD(values, column + 4 * l);
        sums[l] += values * w[i];
      }
    }
    for (std::size_t l = 0; l < kLanes / 4; ++l) SFUMATO_STORE(out + first + 4 * l, sums[l]);
  }
  for (std::size_t l = whole; l < count; ++l) {
    double sum = 0.0;
    for (std::size_t i = 0; i < features; ++i) sum += x[i * stride + l] * w[i];
    out[l] = sum;
  }
}

SFUMATO_VECTOR_CLONES
void add_weighted_rows(std::size_t count, std::size_t features, const double* __restrict x,
                       std::size_t stride, const double* __restrict r, double* __restrict out) {
  const std::size_t whole = count - count % kLanes;
  for (std::size_t i = 0; i < features; ++i) {
    const double* column = x + i * stride;
    double sums[kLanes] = {};
    for (std::size_t first = 0; first < whole; first += kLanes) {
      for (std::size_t l = 0; l < kLanes; ++l) sums[l] += column[first + l] * r[first + l];
    }
    double sum = 0.0;
    for (std::size_t l = 0; l < kLanes; ++l) sum += sums[l];
    for (std::size_t l = whole; l < count; ++l) sum += column[l] * r[l];
    out[i] += sum;
  }
}

SFUMATO_VECTOR_CLONES
void subtract_label(std::size_t count, const double* __restrict labels, double label,
                    double* __restrict r) {
  for (std::size_t l = 0; l < count; ++l) r[l] -= labels[l] == label ? 1.0 : 0.0;
}

}  // namespace sfumato
