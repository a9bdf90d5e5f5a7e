#include "sfumato/random/box_muller.hpp"

#include <bit>
#include <cmath>
#include <cstdint>
#include <utility>

namespace sfumato {
namespace {

/// log x for positive normal x, after fdlibm's e_log.c (error below one unit in the last place):
/// x = 2^k (1 + f) with 1 + f in [sqrt(1/2), sqrt(2)), and log(1 + f) as a series in f / (2 + f).
double portable_log(double x) {
  constexpr double kLn2High = 6.93147180369123816490e-01, kLn2Low = 1.90821492927058770002e-10;
  constexpr std::uint64_t kRootHalf = 0x3FE6A09E00000000u;  // sqrt(1/2), to its high word
  constexpr std::uint64_t kOne = 0x3FF0000000000000u;
  const std::uint64_t shifted = std::bit_cast<std::uint64_t>(x) + (kOne - kRootHalf);
  const double k = static_cast<double>(static_cast<std::int64_t>(shifted >> 52) - 1023);
  const double f = std::bit_cast<double>((shifted & 0x000FFFFFFFFFFFFFu) + kRootHalf) - 1.0;
  const double s = f / (2.0 + f);
  const double z = s * s;
  const double w = z * z;
  const double even = w * (3.999999999940941908e-01 +
                           w * (2.222219843214978396e-01 + w * 1.531383769920937332e-01));
  const double odd = z * (6.666666666666735130e-01 +
                          w * (2.857142874366239149e-01 +
                               w * (1.818357216161805012e-01 + w * 1.479819860511658591e-01)));
  const double half_square = 0.5 * f * f;
  return s * (half_square + (odd + even)) + k * kLn2Low - half_square + f + k * kLn2High;
}

/// cos and sin of `turns` full turns: an exact reduction to an eighth of a turn around the nearest
/// quarter, then fdlibm's polynomials for |angle| <= pi / 4 (k_cos.c, k_sin.c).
std::pair<double, double> portable_cos_sin(double turns) {
  constexpr double kTwoPi = 6.28318530717958647692;
  const double quarters = 4.0 * turns + 0.5;  // not negative: the cast rounds down
  const int quarter = static_cast<int>(quarters);
  const double angle = kTwoPi * (turns - 0.25 * quarter);
  const double z = angle * angle;
  const double sine =
      angle +
      angle * z *
          (-1.66666666666666324348e-01 +
           z * (8.33333333332248946124e-03 +
                z * (-1.98412698298579493134e-04 +
                     z * (2.75573137070700676789e-06 +
                          z * (-2.50507602534068634195e-08 + z * 1.58969099521155010221e-10)))));
  const double cosine =
      1.0 -
      (0.5 * z -
       z * z *
           (4.16666666666666019037e-02 +
            z * (-1.38888888888741095749e-03 +
                 z * (2.48015872894767294178e-05 +
                      z * (-2.75573143513906633035e-07 +
                           z * (2.08757232129817482790e-09 + z * -1.13596475577881948265e-11))))));
  switch (quarter & 3) {
    case 0: return {cosine, sine};
    case 1: return {-sine, cosine};
    case 2: return {-cosine, -sine};
    default: return {sine, -cosine};
  }
}

}  // namespace

NormalPair box_muller(double u, double v) {
  const double radius = std::sqrt(-2.0 * portable_log(u));
  const auto [cosine, sine] = portable_cos_sin(v);
  return {radius * cosine, radius * sine};
}

}  // namespace sfumato
