#pragma once

#include <string_view>

namespace sfumato {

/// How noise for release is made (Spec §24.1).
enum class NoiseMode {
  grid,  ///< contributions rounded to integers, exact sums, discrete Gaussian noise: nothing is left to rounding
  gaussian,  ///< double precision, idealised: the low bits of a sum are not protected
};
/// "grid" or "gaussian".
[[nodiscard]] std::string_view name(NoiseMode mode);

}  // namespace sfumato
