#pragma once

#include <cstddef>
#include <vector>

namespace sfumato::lab {

/// Images that are transformed side by side.
inline constexpr std::size_t kFourierLanes = 8;

/// Complex numbers of as many images: the real parts, then the imaginary parts.
struct LaneComplex {
  float re[kFourierLanes];
  float im[kFourierLanes];
};

/// Discrete Fourier transforms of any length,  y_k = sum_j x_j e^{-2 pi i jk / n},  in single precision; mixed radices (Stockham), quick for
/// lengths of small factors. The same bits on every machine.
class LaneFourier {
 public:
  explicit LaneFourier(std::size_t length);

  [[nodiscard]] std::size_t length() const { return length_; }

  /// Transforms the first axis of an array of length() x `inner`, back (without dividing by the length) if `inverse`. `room` is as large; the
  /// result is in one of the two, which is returned.
  LaneComplex* transform(LaneComplex* values, LaneComplex* room, std::size_t inner,
                         bool inverse) const;

 private:
  struct Stage {
    std::size_t radix;
    std::vector<float> cosines, sines;  ///< of e^{-2 pi i p j / n} for p < n / radix, j < radix
    std::vector<float> small_cosines,
        small_sines;  ///< of the transform of `radix` numbers itself, for radices above 5
  };
  std::size_t length_;
  std::vector<Stage> stages_;
};

/// Transforms both axes of a plane of rows.length() x columns.length(). `room` is as large.
void transform_plane(const LaneFourier& rows, const LaneFourier& columns, LaneComplex* plane,
                     LaneComplex* room, bool inverse);

}  // namespace sfumato::lab
