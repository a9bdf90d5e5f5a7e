#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "lab/images/features/lane_fourier.hpp"
#include "sfumato/data/labelled_set.hpp"

namespace sfumato::lab {

/// The scattering transform of order 2 with Morlet wavelets at 2 octaves and 8 angles: a fixed, public map of an image to 81 maps at a quarter of
/// its resolution [Mallat2012], [OyallonMallat2015].
///
///   S0 = x * phi,   S1(j, a) = |x * psi_{j,a}| * phi,   S2(0, a, 1, b) = ||x * psi_{0,a}| * psi_{1,b}| * phi
///
/// psi_{j,a} is a Morlet wavelet of width 0.8 2^j, frequency 3 pi / 4 2^-j and slant 1/2 in direction a, phi a Gaussian of width 1.6. Convolutions are
/// circular on the image reflected over its borders (to the next multiple of 4 above 4 more pixels); a signal of octave j is kept at every
/// 2^j-th pixel, and the outermost pixel of each map is dropped: 28 x 28 gives 7 x 7, 32 x 32 gives 8 x 8. The conventions (filters, borders,
/// order of the maps: S0, S1, S2) are those that published results on scattering features use.
class Scattering {
 public:
  static constexpr std::size_t kOctaves = 2, kAngles = 8;
  static constexpr std::size_t kMaps = 1 + kOctaves * kAngles + kAngles * kAngles;

  /// For images of that size.
  /// Throws   InvalidArgument below 8 x 8, which has too few pixels to reflect.
  Scattering(int height, int width);

  /// Height and width of a map.
  [[nodiscard]] int height() const { return static_cast<int>(padded_height_ / 4) - 2; }
  [[nodiscard]] int width() const { return static_cast<int>(padded_width_ / 4) - 2; }

  /// The maps of up to kFourierLanes images, given as one span of height x width numbers each: kMaps x height() x width() numbers
  /// for each, map by map. Threads may share the transform.
  void transform(std::span<const std::span<const float>> images,
                 std::span<const std::span<float>> maps) const;

  /// The filters by their Fourier transforms at full resolution, which are real: phi, then psi by octave and angle. For tests.
  [[nodiscard]] const std::vector<std::vector<float>>& filters() const { return filters_; }
  [[nodiscard]] std::size_t padded_height() const { return padded_height_; }
  [[nodiscard]] std::size_t padded_width() const { return padded_width_; }

 private:
  struct Room;
  void low_pass(Room& room, const LaneComplex* spectrum, std::size_t octave,
                std::span<const std::span<float>> maps, std::size_t map) const;

  std::size_t height_, width_, padded_height_, padded_width_;
  std::vector<std::vector<float>> filters_;
  std::vector<float> half_phi_;  ///< phi for signals at every second pixel
  std::vector<LaneFourier> rows_,
      columns_;  ///< for signals at every pixel, every second, every fourth
};

}  // namespace sfumato::lab
