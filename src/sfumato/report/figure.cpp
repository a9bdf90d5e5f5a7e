#include "sfumato/report/figure.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "sfumato/core/error.hpp"

namespace sfumato {
namespace {

bool sizes_fit(Mark mark, const Series& series) {
  const std::size_t n = series.y.size();
  if (mark == Mark::bars) return series.x.size() == n + 1 && series.z.empty();
  return series.x.size() == n && series.z.size() == (mark == Mark::plane ? n : 0);
}

bool has_nan(const std::vector<double>& values) {
  return std::any_of(values.begin(), values.end(), [](double v) { return std::isnan(v); });
}

}  // namespace

Figure::Figure(std::string key, std::string title, Mark mark, Axis x, Axis y, std::optional<Axis> z)
    : key_(std::move(key)),
      title_(std::move(title)),
      mark_(mark),
      x_(std::move(x)),
      y_(std::move(y)),
      z_(std::move(z)) {
  if (z_.has_value() != (mark_ == Mark::plane)) {
    throw InternalError(fmt::format("figure '{}': a plane, and only a plane, has a z axis", key_));
  }
}

void Figure::add(Series series) {
  const auto refuse = [&](const char* problem) {
    throw InternalError(fmt::format("figure '{}', series '{}': {}", key_, series.key, problem));
  };
  if (series.key.empty()) refuse("the key is empty");
  for (const Series& other : series_) {
    if (other.key == series.key) refuse("the key is taken");
  }
  if (!sizes_fit(mark_, series)) refuse("the lengths of x, y and z do not fit the mark");
  if (has_nan(series.x) || has_nan(series.y) || has_nan(series.z)) refuse("a number is NaN");
  if (mark_ == Mark::bars && std::adjacent_find(series.x.begin(), series.x.end(),
                                                std::greater_equal<>()) != series.x.end()) {
    refuse("the bin edges do not rise");
  }
  series_.push_back(std::move(series));
}

}  // namespace sfumato
