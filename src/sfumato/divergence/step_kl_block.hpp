#pragma once

#include <cstddef>

namespace sfumato {

/// Some coordinates of Spec §8.1 (1) at a time, so that a training step's KL costs little. Internal to
/// step_kl.cpp: the inputs are finite, the variances not negative.
struct StepKlBlock {
  static constexpr std::size_t kSize = 256;
  double shift[kSize];           ///< eta (g_i - g'_i)
  double variance[kSize];        ///< S_i
  double variance_prime[kSize];  ///< S'_i

  /// Fills kl[0 .. count) and `infinite`, and returns the sum, in an order that depends on nothing else.
  double sum(std::size_t count);

  double kl[kSize];          ///< 1/2 [ psi(S_i/S'_i) + shift_i^2 / S'_i ]
  std::size_t infinite = 0;  ///< how many of them are
};

}  // namespace sfumato
