#include "lab/nn/bundle/row_clips.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace sfumato::lab {
namespace {

constexpr std::size_t kChains = 8;

double total(const double* sums) {
  return ((sums[0] + sums[1]) + (sums[2] + sums[3])) + ((sums[4] + sums[5]) + (sums[6] + sums[7]));
}

float clip_factor(double weight, double clip, double norm) {
  return static_cast<float>(norm > clip ? weight * (clip / norm) : weight);
}

/// Whether a gradient can be scaled to the length `longest`, times a weight, in single precision: neither the factor nor what it leaves of signals may
/// be so small that it counts for more than a share of that length.
bool can_be_clipped(double square, double units, double longest) {
  constexpr double kLeastFactor = std::numeric_limits<float>::min();
  constexpr double kLeast = std::numeric_limits<float>::denorm_min();
  return std::isfinite(square) && std::sqrt(square) * kLeastFactor <= longest &&
         std::sqrt(units) * kLeast <= kUnderflowShare * longest;
}

}  // namespace

void RowClips::begin(std::size_t blocks, std::size_t rows) {
  blocks_ = blocks;
  rows_ = rows;
  squares_.assign(blocks * rows, 0.0);
  units_.assign(blocks * rows, 0.0);
  factors_.resize(blocks * rows);
  not_finite_.clear();
  zeroed_ = 0;
}

void RowClips::decide(const Clipping& clipping, double margin, const float* row_weights) {
  const double least_clip = *std::min_element(clipping.clips.begin(), clipping.clips.end());
  for (std::size_t r = 0; r < rows_; ++r) {
    double square = 0.0, unit = 0.0;
    for (std::size_t b = 0; b < blocks_; ++b) {
      square += squares(b)[r];
      unit += units(b)[r];
    }
    // Rows of no weight are scaled by zero; those of differences between worlds have weights of either sign.
    const double row_weight =
        row_weights[r] == 0.0F ? 1.0 : std::fabs(static_cast<double>(row_weights[r]));
    const bool finite = can_be_clipped(square, unit, least_clip * row_weight);
    if (!finite) {
      not_finite_.push_back(r);
      zeroed_ += row_weights[r] != 0.0F ? 1U : 0U;
    }
    const double weight = finite ? static_cast<double>(row_weights[r]) : 0.0;
    for (std::size_t b = 0; b < blocks_; ++b) {
      const double clip = clipping.clips[clipping.by_block() ? b : 0] * (1.0 - margin);
      const double norm = std::sqrt(clipping.by_block() ? squares(b)[r] : square);
      factors_[b * rows_ + r] = weight == 0.0 ? 0.0F : clip_factor(weight, clip, norm);
    }
  }
}

double sum_of_squares(const float* values, std::size_t count) {
  double sums[kChains] = {};
  std::size_t i = 0;
  for (; i + kChains <= count; i += kChains) {
    for (std::size_t k = 0; k < kChains; ++k) {
      const auto v = static_cast<double>(values[i + k]);
      sums[k] += v * v;
    }
  }
  for (std::size_t k = 0; i < count; ++i, ++k) {
    const auto v = static_cast<double>(values[i]);
    sums[k] += v * v;
  }
  return total(sums);
}

double weighted_squares(const float* values, const float* weights, std::size_t count) {
  double sums[kChains] = {};
  std::size_t i = 0;
  for (; i + kChains <= count; i += kChains) {
    for (std::size_t k = 0; k < kChains; ++k) {
      const auto v = static_cast<double>(values[i + k]);
      sums[k] += v * v * static_cast<double>(weights[i + k]);
    }
  }
  for (std::size_t k = 0; i < count; ++i, ++k) {
    const auto v = static_cast<double>(values[i]);
    sums[k] += v * v * static_cast<double>(weights[i]);
  }
  return total(sums);
}

}  // namespace sfumato::lab
