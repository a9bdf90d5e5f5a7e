#include "sfumato/account/contour/rotated_sum.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <random>
#include <vector>

namespace sfumato {
namespace {

using Complex = std::complex<double>;

TEST(RotatedSum, IsTheSumOfItsTermsUpToRounding) {
  std::mt19937_64 random(3);
  std::uniform_real_distribution<double> uniform(-1.0, 1.0);
  constexpr std::size_t kCount = 203;  // not a multiple of eight
  std::vector<double> c_re, c_im, c, l_re, l_im, ones(kCount, 1.0);
  for (std::size_t j = 0; j < kCount; ++j) {
    c_re.push_back(uniform(random));
    c_im.push_back(uniform(random));
    c.push_back(std::hypot(c_re[j], c_im[j]));
    const double size = std::pow(10.0, 4.0 * uniform(random) - 4.0);
    l_re.push_back(size * uniform(random));
    l_im.push_back(size * uniform(random));
  }
  for (const Complex p : {Complex(1.0, 0.0), Complex(3.5, 200.0), Complex(40.0, 600.0)}) {
    const RotatedSum sum = rotated_sum({c_re.data(), c_im.data(), c.data(), l_re.data(),
                                        l_im.data(), ones.data(), ones.data(), kCount},
                                       p.real(), p.imag());
    std::complex<long double> truth;
    long double allowed = 0.0L;
    for (std::size_t j = 0; j < kCount; ++j) {
      const std::complex<long double> power(p.real(), p.imag()), log(l_re[j], l_im[j]);
      const std::complex<long double> x = power * log;
      const long double half = std::sin(x.imag() / 2), down = std::exp(x.real());
      const std::complex<long double> change(std::expm1(x.real()) - 2 * down * half * half,
                                             down * std::sin(x.imag()));
      truth += std::complex<long double>(c_re[j], c_im[j]) * change;
      allowed += c[j] * 8 * std::abs(power) * std::abs(log) * down;
    }
    const long double off = std::abs(truth - std::complex<long double>(sum.re, sum.im));
    EXPECT_LE(off, 0x1p-53L * (allowed + 50 * sum.size)) << p;
    EXPECT_GT(sum.size, 0.0);
  }
}

}  // namespace
}  // namespace sfumato
