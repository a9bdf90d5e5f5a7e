#include "sfumato/fit/ranges.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "sfumato/fit/noisy_sum.hpp"
#include "sfumato/fit/sensitivity.hpp"

namespace sfumato {

using Eigen::Index;

namespace {

constexpr Index kHalvings = 14;  // finer than 1/16384 of a declared range nobody meant
constexpr Index kBins = kHalvings + 1;
/// Rows that may be moved to the ends of a narrower range: half a percent, or what the noise leaves uncertain, up to five.
constexpr double kOutside = 0.005, kMostOutside = 0.05;

/// How often `share`, in [0, 1], can be doubled before it exceeds 1.
Index halvings_of(double share) {
  if (!(share > 0.0)) return kHalvings;
  return std::clamp(static_cast<Index>(std::floor(-std::log2(std::min(share, 1.0)))), Index{0},
                    kHalvings);
}

/// Positions of the numeric columns among the features.
std::vector<Index> numeric_positions(const PublicTable& table) {
  std::vector<Index> positions;
  Index at = 0;
  for (const FeatureColumn& column : table.features) {
    if (std::holds_alternative<NumericColumn>(column)) positions.push_back(at);
    at += width_of(column);
  }
  return positions;
}

double count_norm(const PublicTable& table, FitModel model) {
  const std::size_t columns = numeric_positions(table).size() + (model == FitModel::ridge ? 1 : 0);
  return std::sqrt(static_cast<double>(columns));
}

/// The halvings whose range still holds nearly all rows, given noisy counts of rows that allow so many and no more.
Index enough_halvings(const Eigen::VectorXd& counts, double noise_std) {
  const double all = counts.sum();
  double outside = 0.0;
  for (Index k = 1; k <= kHalvings; ++k) {
    outside += counts(k - 1);
    const double noise = noise_std * std::sqrt(static_cast<double>(k));
    if (3.0 * noise > kMostOutside * all ||
        outside + noise > std::max(kOutside * all, 3.0 * noise)) {
      return k - 1;
    }
  }
  return kHalvings;
}

/// Around the middle of the range, or from its low end: known from the declaration.
bool is_around_middle(double low, double high) { return low < 0.0 && high > 0.0; }

void narrow(Index halvings, double* low, double* high) {
  const int by = -static_cast<int>(halvings);
  if (!is_around_middle(*low, *high)) {
    *high = *low + std::ldexp(*high - *low, by);
    return;
  }
  const double middle = 0.5 * *low + 0.5 * *high;
  const double half = std::ldexp(0.5 * *high - 0.5 * *low, by);
  *low = middle - half, *high = middle + half;
}

}  // namespace

double range_noise(const PublicTable& table, FitModel model, double mu, double rows) {
  return count_norm(table, model) * multiplier_of_mu(mu, table.relation) / rows;
}

PublicTable release_ranges(const BoundedRows& rows, const PublicTable& table, FitModel model,
                           double mu, RangeMargin margin, NoiseMode mode, ReleaseBits& bits) {
  const std::vector<Index> positions = numeric_positions(table);
  const bool quantity = model == FitModel::ridge;
  const Index columns = static_cast<Index>(positions.size()) + (quantity ? 1 : 0);
  if (columns == 0) return table;
  std::vector<bool> around_middle;
  for (const FeatureColumn& column : table.features) {
    if (const auto* numeric = std::get_if<NumericColumn>(&column)) {
      around_middle.push_back(is_around_middle(numeric->low, numeric->high));
    }
  }
  if (quantity) around_middle.push_back(is_around_middle(table.target_low, table.target_high));
  const double bound = table.target_bound();
  const NoisySum counts = noisy_sum(
      [&](Index i, Eigen::Ref<Eigen::ArrayXd> out) {
        if (rows.features.row(i).isZero(0.0)) return;  // a null record
        for (Index c = 0; c < columns; ++c) {
          const bool feature = c < static_cast<Index>(positions.size());
          const Index at = feature ? positions[static_cast<std::size_t>(c)] : 0;
          // A number that is missing says nothing of the range: the middle would keep it wide.
          if (feature && rows.filled.size() > 0 && rows.filled(i, at)) continue;
          const double x = feature ? rows.features(i, at) : rows.target(i) / bound;
          const double share =
              around_middle[static_cast<std::size_t>(c)] ? std::abs(x) : 0.5 * (x + 1.0);
          out(kBins * c + halvings_of(share)) = 1.0;
        }
      },
      {rows.features.rows(), kBins * columns, count_norm(table, model),
       multiplier_of_mu(mu, table.relation), static_cast<double>(table.rows)},
      mode, bits);
  PublicTable found = table;
  Index c = 0;
  const auto enough = [&] {
    return enough_halvings(counts.sum.segment(kBins * c++, kBins), counts.noise_std);
  };
  const Index kept = margin == RangeMargin::one_halving ? 1 : 0;
  for (FeatureColumn& column : found.features) {
    if (auto* numeric = std::get_if<NumericColumn>(&column)) {
      narrow(std::max<Index>(0, enough() - kept), &numeric->low, &numeric->high);
    }
  }
  if (quantity) {
    narrow(enough(), &found.target_low, &found.target_high);
    if (margin == RangeMargin::one_halving) {
      const double middle = 0.5 * found.target_low + 0.5 * found.target_high;
      found.target_reach = std::max(table.target_high - middle, middle - table.target_low);
    }
  }
  return found;
}

}  // namespace sfumato
