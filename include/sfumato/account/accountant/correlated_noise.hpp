#pragma once

#include <cstdint>
#include <vector>

namespace sfumato {

/// Noise that is correlated over the steps: C^{-1} Z with a lower triangular Toeplitz C of coefficients c_0 >= c_1 >= ... >= 0 (Spec §32).

/// c_0 = 1, c_k = c_{k-1} (2k - 1) / (2k), k < bands: the square root of the prefix sum.
[[nodiscard]] std::vector<double> square_root_coefficients(std::size_t bands);

/// c_k = lambda^k of (C^{-1} Z)_i = Z_i - lambda Z_{i-1}, lambda in [0, 1).
[[nodiscard]] std::vector<double> lambda_coefficients(double lambda, std::size_t steps);

/// c_0 = 1, c_k = sum_j weights_j decays_j^{k-1}: buffered linear Toeplitz noise.
/// Throws   InvalidArgument unless weights_j >= 0, their sum <= 1 and 0 <= decays_j < 1, which make c fall.
[[nodiscard]] std::vector<double> buffered_coefficients(const std::vector<double>& weights,
                                                        const std::vector<double>& decays,
                                                        std::size_t steps);

/// The norm of a column that is not cut off: of the first `steps` coefficients. Rounded up.
[[nodiscard]] double column_norm(const std::vector<double>& coefficients, std::size_t steps);

/// What a record moves C X by at most, if it takes part at most `participations` times, `separation` steps apart or more, with rows of norm one at
/// most: the norm of the sum of the columns 1, 1 + separation, ... (Spec §32.2). Over the noise multiplier it is mu of Gaussian
/// privacy, without sampling. Rounded up.
/// Throws   InvalidArgument if coefficients rise or are negative, or a count is 0.
[[nodiscard]] double toeplitz_sensitivity(const std::vector<double>& coefficients,
                                          std::size_t steps, std::size_t separation,
                                          std::size_t participations);

}  // namespace sfumato
