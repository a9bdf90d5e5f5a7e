#include "sfumato/report/figure.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "sfumato/core/error.hpp"

namespace sfumato {
namespace {

bool has_z(Mark mark) { return mark == Mark::plane || mark == Mark::image; }

bool sizes_fit(Mark mark, bool on_plane, const Series& series) {
  const std::size_t n = series.y.size();
  if (series.x.size() != (mark == Mark::bars ? n + 1 : n)) return false;
  if (!series.labels.empty() && series.labels.size() != n) return false;
  return series.z.size() == (has_z(mark) ? n : 0) || (on_plane && series.z.size() == n);
}

bool is_curve(Mark mark) {
  return mark == Mark::line || mark == Mark::points || mark == Mark::steps || mark == Mark::region;
}

/// What else can be drawn over a figure of `base`.
bool may_overlay(Mark base, Mark mark) {
  if (base == mark) return true;
  if (base == Mark::bars || base == Mark::columns) return false;
  if (mark == Mark::line || mark == Mark::points) return true;
  return is_curve(mark) && is_curve(base);
}

bool intervals_fit(const std::optional<Intervals>& intervals, Mark mark, std::size_t n) {
  if (!intervals) return true;
  if (mark == Mark::bars || has_z(mark)) return false;
  if (intervals->low.size() != n || intervals->high.size() != n) return false;
  for (std::size_t i = 0; i < n; ++i) {
    if (!(intervals->low[i] <= intervals->high[i])) return false;  // this way round refuses NaN
  }
  return true;
}

bool categories_exist(const Axis& axis, const std::vector<double>& values) {
  const auto count = static_cast<double>(axis.categories.size());
  return axis.categories.empty() || std::all_of(values.begin(), values.end(), [&](double v) {
           return v >= 0.0 && v < count && v == std::floor(v);
         });
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
  if (z_.has_value() != has_z(mark_)) {
    throw InternalError(
        fmt::format("figure '{}': a plane or an image, and nothing else, has a z axis", key_));
  }
  if (mark_ == Mark::columns && x_.categories.empty()) {
    throw InternalError(fmt::format("figure '{}': columns stand over categories", key_));
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
  const Mark mark = mark_of(series);
  if (!may_overlay(mark_, mark)) refuse("this mark cannot be drawn into this figure");
  if (!sizes_fit(mark, z_.has_value(), series)) {
    refuse("the lengths of x, y, z and labels do not fit the mark");
  }
  if (has_nan(series.x) || has_nan(series.y) || has_nan(series.z)) refuse("a number is NaN");
  if (!intervals_fit(series.x_intervals, mark, series.y.size()) ||
      !intervals_fit(series.y_intervals, mark, series.y.size())) {
    refuse("an interval is empty, or there is not one per point");
  }
  if (!categories_exist(x_, series.x) || !categories_exist(y_, series.y)) {
    refuse("a category does not exist");
  }
  if (mark == Mark::bars && std::adjacent_find(series.x.begin(), series.x.end(),
                                               std::greater_equal<>()) != series.x.end()) {
    refuse("the bin edges do not rise");
  }
  series_.push_back(std::move(series));
}

void Figure::set_layout(Layout layout) {
  if (layout == Layout::multiples && !is_curve(mark_)) {
    throw InternalError(fmt::format("figure '{}': only curves have small multiples", key_));
  }
  layout_ = layout;
}

std::string_view name(Mark mark) {
  switch (mark) {
    case Mark::line: return "line";
    case Mark::steps: return "steps";
    case Mark::region: return "region";
    case Mark::points: return "points";
    case Mark::bars: return "bars";
    case Mark::columns: return "columns";
    case Mark::plane: return "plane";
    case Mark::image: return "image";
  }
  throw InternalError("unknown mark");
}

}  // namespace sfumato
