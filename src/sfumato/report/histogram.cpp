#include "sfumato/report/histogram.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "sfumato/core/error.hpp"
#include "sfumato/core/infinity.hpp"

namespace sfumato {
namespace {

constexpr double kEndless = 1e300;  // beyond this a value counts as infinite: edges would overflow

/// mantissa * 10^exponent, rounded once where 10^|exponent| is a double (up to 1e22), so that the
/// edge 0.2 is the double that a reader types.
double decimal(double mantissa, int exponent) {
  return exponent < 0 ? mantissa / std::pow(10.0, -exponent) : mantissa * std::pow(10.0, exponent);
}

/// Multiples of 1, 2 or 5 times a power of ten that cover [low, high] in five to twelve steps.
std::vector<double> linear_edges(double low, double high) {
  if (low == high) {
    const double half = low == 0.0 ? 0.5 : std::abs(low) * 0x1p-10;
    return {low - half, high + half};
  }
  // Values that agree in nine digits have no edges between them that a reader could tell apart.
  const double magnitude = std::max(std::abs(low), std::abs(high));
  if (high - low < std::max(1e-9 * magnitude, 1.0 / kEndless)) return {low, high};
  const double rough = (high - low) / 10.0;
  int exponent = static_cast<int>(std::floor(std::log10(rough)));
  const double fraction = rough / std::pow(10.0, exponent);
  int mantissa = fraction <= 1.0 ? 1 : fraction <= 2.0 ? 2 : fraction <= 5.0 ? 5 : 10;
  if (mantissa == 10) {
    mantissa = 1;
    ++exponent;
  }
  const auto edge = [&](double multiple) { return decimal(multiple * mantissa, exponent); };
  double multiple = std::floor(low / decimal(mantissa, exponent));
  while (edge(multiple) > low) --multiple;
  std::vector<double> edges;
  for (; edges.empty() || edges.back() < high; ++multiple) {
    edges.push_back(edge(multiple));
  }
  return edges;
}

/// 1-2-5 edges up to five decades, otherwise every decade or every few, over [low, high], low > 0.
std::vector<double> log_edges(double low, double high) {
  const double decades = std::log10(high) - std::log10(low);
  if (decades < 1.0) {
    std::vector<double> edges = linear_edges(low, high);
    if (edges.front() <= 0.0) edges.front() = low;  // 0 has no place on the axis
    return edges;
  }
  const int stride = std::max(1, static_cast<int>(std::ceil(decades / 12.0)));
  const std::vector<double> mantissas =
      decades <= 5.0 ? std::vector<double>{1.0, 2.0, 5.0} : std::vector<double>{1.0};
  int exponent = static_cast<int>(std::floor(std::log10(low)));
  if (decimal(1.0, exponent) > low) --exponent;  // log10 may round up
  std::vector<double> edges;
  for (;; exponent += stride) {
    for (const double mantissa : mantissas) {
      const double edge = decimal(mantissa, exponent);
      if (edge <= low) edges.clear();  // only the last edge at or below `low` opens a bin
      edges.push_back(edge);
      if (edge >= high) return edges;
    }
  }
}

}  // namespace

Figure histogram(std::string key, std::string title, Axis axis, std::span<const double> values) {
  const bool is_log = axis.scale == Scale::log;
  double low = kInf, high = -kInf;  // of the values that have a place on the axis
  bool has_below = false, has_above = false;
  double least = kInf;
  for (const double value : values) {
    if (std::isnan(value)) throw InternalError("histogram of a NaN");
    least = std::min(least, value);
    if (value > kEndless) {
      has_above = true;
    } else if (value < -kEndless || (is_log && value < 1.0 / kEndless)) {
      has_below = true;
    } else {
      low = std::min(low, value);
      high = std::max(high, value);
    }
  }
  std::vector<double> edges;
  if (low <= high) {
    edges = is_log ? log_edges(low, high) : linear_edges(low, high);
  } else if (has_below || has_above) {
    edges = {1.0};  // nothing finite: the bins meet at an arbitrary point
  }
  if (has_below) edges.insert(edges.begin(), least);
  if (has_above) {
    if (!edges.empty() && edges.back() == high) edges.back() = std::nextafter(high, kInf);
    edges.push_back(kInf);
  }

  Figure figure(std::move(key), std::move(title), Mark::bars, std::move(axis), Axis{"count"});
  if (edges.size() < 2) return figure;
  std::vector<double> counts(edges.size() - 1, 0.0);
  for (const double value : values) {
    const auto above = std::upper_bound(edges.begin(), edges.end(), value);
    const auto bin =
        std::clamp<std::ptrdiff_t>(above - edges.begin() - 1, 0, std::ssize(counts) - 1);
    counts[static_cast<std::size_t>(bin)] += 1.0;
  }
  figure.add({.key = "count", .title = "count", .x = std::move(edges), .y = std::move(counts)});
  return figure;
}

}  // namespace sfumato
