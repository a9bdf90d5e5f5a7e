#pragma once

#include <cstddef>

#include "lab/nn/dual.hpp"

namespace sfumato::lab {

/// The three products of a weight matrix (rows x columns, row by row) in ExactBackprop; they take
/// nearly all of its time. Each sum is made in the order of its terms, whatever the machine.

/// out_c += sum_r in_r weights_rc
void add_product(const double* weights, std::size_t rows, std::size_t columns, const double* in,
                 double* out);
void add_product(const Dual* weights, std::size_t rows, std::size_t columns, const Dual* in,
                 Dual* out);

/// out_r += sum_c weights_rc in_c
void add_transposed_product(const double* weights, std::size_t rows, std::size_t columns,
                            const double* in, double* out);
void add_transposed_product(const Dual* weights, std::size_t rows, std::size_t columns,
                            const Dual* in, Dual* out);

/// out_rc += left_r right_c
void add_outer(const double* left, std::size_t rows, const double* right, std::size_t columns,
               double* out);
void add_outer(const Dual* left, std::size_t rows, const Dual* right, std::size_t columns,
               Dual* out);

}  // namespace sfumato::lab
