#pragma once

#include <Eigen/Core>
#include <cstdint>

namespace sfumato {

/// Integers in place of the contributions of records (Spec §24.2). All arithmetic on them is exact in double precision as long as sums stay below 2^53.
struct RoundingGrid {
  double per_unit;  ///< integers per unit of what is rounded
  double square;    ///< largest squared norm of a record's integers, itself an integer

  /// Rounds the contribution to the nearest integers; towards zero if that is too long, and to nothing if even that is.
  void round(Eigen::Ref<Eigen::ArrayXd> contribution) const;

  /// The nearest integers of what is already in units of the grid. Adding and taking away 1.5 * 2^52 rounds, in vectors, what is not larger than 2^50; a squared
  /// norm of anything larger exceeds `square`.
  template <class Array>
  [[nodiscard]] static auto nearest(const Array& units) {
    constexpr double kMagic = 0x1.8p52;
    return (units + kMagic) - kMagic;
  }
};

/// A grid for sums of `rows` contributions of norm `clip`, with noise of parameter `deviation` grid units.
struct SumGrid {
  RoundingGrid grid;
  std::int64_t deviation;
};

/// For noise of `noise_multiplier` times the clip: the integers' own multiplier, corrected for discrete noise over `draws`, is not less.
/// Throws   InvalidArgument if no grid fits (too many rows, hardly any noise).
[[nodiscard]] SumGrid sum_grid(double clip, double noise_multiplier, double rows, double draws);

/// For second moments of rows of norm `bound`: integers v with |v|^2 <= grid.square, noise of parameter `deviation` off the diagonal and `diagonal` on
/// it, so that mu is not exceeded (Spec §22.2).
struct MomentGrid {
  RoundingGrid grid;
  std::int64_t deviation, diagonal;
};
[[nodiscard]] MomentGrid moment_grid(double bound, double mu, bool replaced, double rows,
                                     double draws);

}  // namespace sfumato
