#include "sfumato/account/lattice/fourier.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <numbers>
#include <vector>

#include "sfumato/core/error.hpp"

namespace sfumato {
namespace {

TEST(Fourier, IsTheTransformUpToItsBound) {
  constexpr std::size_t kLength = 64;
  const Fourier fourier(kLength);
  std::vector<std::complex<double>> values(kLength);
  for (std::size_t j = 0; j < kLength; ++j) {
    values[j] = {std::sin(3.0 * static_cast<double>(j * j)),
                 std::cos(5.0 * static_cast<double>(j))};
  }
  const auto given = values;
  fourier.transform(values);
  double error = 0.0, size = 0.0;
  for (std::size_t w = 0; w < kLength; ++w) {
    std::complex<long double> sum = 0.0L;
    for (std::size_t j = 0; j < kLength; ++j) {
      const long double angle = 2.0L * std::numbers::pi_v<long double> *
                                static_cast<long double>((w * j) % kLength) /
                                static_cast<long double>(kLength);
      sum += std::complex<long double>(given[j]) * std::polar(1.0L, angle);
    }
    error += static_cast<double>(std::norm(std::complex<long double>(values[w]) - sum));
    size += static_cast<double>(std::norm(sum));
  }
  EXPECT_LE(std::sqrt(error / size), fourier.relative_error());
  EXPECT_THROW(Fourier(48), InternalError);
}

}  // namespace
}  // namespace sfumato
