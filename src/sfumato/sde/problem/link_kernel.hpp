#pragma once

#include <cstddef>

namespace sfumato {

/// In place, z_i becomes 1/(1 + e^{-z_i}); within 8 roundings (8 * 2.2e-16) of the exact value. NaN
/// stays NaN.
void logistic_in_place(std::size_t count, double* z);

/// In place, count scores of each of `classes` classes (class k begins at k * count) become the
/// probabilities e^{z_k} / sum_j e^{z_j}, each within (classes + 8) roundings.
void softmax_in_place(std::size_t count, std::size_t classes, double* z);

/// out_l = sum_i x_li w_i for `count` rows; column i of the features begins at i * stride.
void row_scores(std::size_t count, std::size_t features, const double* x, std::size_t stride,
                const double* w, double* out);

/// out_i += sum_l x_li r_l.
void add_weighted_rows(std::size_t count, std::size_t features, const double* x, std::size_t stride,
                       const double* r, double* out);

/// r_l -= 1 where label_l is `label`.
void subtract_label(std::size_t count, const double* labels, double label, double* r);

}  // namespace sfumato
