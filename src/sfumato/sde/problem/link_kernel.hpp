#pragma once

#include <cstddef>

namespace sfumato {

/// In place, z_i becomes 1/(1 + e^{-z_i}); within 8 roundings (8 * 2.2e-16) of the exact value. NaN
/// stays NaN.
void logistic_in_place(std::size_t count, double* z);

/// In place, count scores of each of `classes` classes (class k begins at k * count) become the
/// probabilities e^{z_k} / sum_j e^{z_j}, each within (classes + 8) roundings.
void softmax_in_place(std::size_t count, std::size_t classes, double* z);

}  // namespace sfumato
