#include "sfumato/report/histogram.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

namespace sfumato {
namespace {

constexpr std::uint64_t kSeed = 77;

TEST(HistogramProperty, EveryValueIsInTheBinThatHoldsIt) {
  std::mt19937_64 rng(kSeed);
  const auto uniform = [&] { return std::generate_canonical<double, 53>(rng); };
  for (int i = 0; i < 2000; ++i) {
    std::vector<double> values(1 + rng() % 30);
    const double centre = std::pow(10.0, 40.0 * uniform() - 20.0);
    const double spread = std::pow(10.0, 20.0 * uniform() - 16.0);
    for (double& value : values) {
      value = centre * (1.0 + spread * (uniform() - 0.3));
      if (rng() % 20 == 0) value = 0.0;
      if (rng() % 50 == 0) value = std::numeric_limits<double>::infinity();
    }
    const Scale scale = (rng() & 1) != 0 ? Scale::log : Scale::linear;
    const Figure figure = histogram("h", "H", {"x", "", scale}, values);
    const Series& series = figure.series().at(0);  // Figure::add has checked that edges rise
    ASSERT_LE(series.y.size(), 20u) << "seed " << kSeed << " case " << i;
    for (std::size_t bin = 0; bin < series.y.size(); ++bin) {
      const bool last = bin + 1 == series.y.size();
      const auto held = std::count_if(values.begin(), values.end(), [&](double v) {
        return v >= series.x[bin] && (v < series.x[bin + 1] || (last && v == series.x[bin + 1]));
      });
      ASSERT_EQ(series.y[bin], static_cast<double>(held)) << "seed " << kSeed << " case " << i;
    }
    double total = 0.0;
    for (const double count : series.y) total += count;
    ASSERT_EQ(total, static_cast<double>(values.size())) << "seed " << kSeed << " case " << i;
  }
}

}  // namespace
}  // namespace sfumato
