#include "lab/nn/exact_products.hpp"

#include "sfumato/core/vector_clones.hpp"

namespace sfumato::lab {
namespace {

// Inlined into each version of its callers, so that it is compiled for their vectors.
#define SFUMATO_INLINE __attribute__((always_inline)) inline

template <class T>
SFUMATO_INLINE void product(const T* __restrict weights, std::size_t rows, std::size_t columns,
                            const T* __restrict in, T* __restrict out) {
  for (std::size_t r = 0; r < rows; ++r, weights += columns) {
    const T factor = in[r];
    for (std::size_t c = 0; c < columns; ++c) out[c] += factor * weights[c];
  }
}

template <class T>
SFUMATO_INLINE void transposed_product(const T* __restrict weights, std::size_t rows,
                                       std::size_t columns, const T* __restrict in,
                                       T* __restrict out) {
  for (std::size_t r = 0; r < rows; ++r, weights += columns) {
    T sum{};
    for (std::size_t c = 0; c < columns; ++c) sum += weights[c] * in[c];
    out[r] += sum;
  }
}

template <class T>
SFUMATO_INLINE void outer(const T* __restrict left, std::size_t rows, const T* __restrict right,
                          std::size_t columns, T* __restrict out) {
  for (std::size_t r = 0; r < rows; ++r, out += columns) {
    const T factor = left[r];
    for (std::size_t c = 0; c < columns; ++c) out[c] += factor * right[c];
  }
}

}  // namespace

SFUMATO_VECTOR_CLONES
void add_product(const double* weights, std::size_t rows, std::size_t columns, const double* in,
                 double* out) {
  product(weights, rows, columns, in, out);
}
SFUMATO_VECTOR_CLONES
void add_product(const Dual* weights, std::size_t rows, std::size_t columns, const Dual* in,
                 Dual* out) {
  product(weights, rows, columns, in, out);
}

SFUMATO_VECTOR_CLONES
void add_transposed_product(const double* weights, std::size_t rows, std::size_t columns,
                            const double* in, double* out) {
  transposed_product(weights, rows, columns, in, out);
}
SFUMATO_VECTOR_CLONES
void add_transposed_product(const Dual* weights, std::size_t rows, std::size_t columns,
                            const Dual* in, Dual* out) {
  transposed_product(weights, rows, columns, in, out);
}

SFUMATO_VECTOR_CLONES
void add_outer(const double* left, std::size_t rows, const double* right, std::size_t columns,
               double* out) {
  outer(left, rows, right, columns, out);
}
SFUMATO_VECTOR_CLONES
void add_outer(const Dual* left, std::size_t rows, const Dual* right, std::size_t columns,
               Dual* out) {
  outer(left, rows, right, columns, out);
}

}  // namespace sfumato::lab
