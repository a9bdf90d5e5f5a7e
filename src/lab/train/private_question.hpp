#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lab/nn/noise_policy.hpp"
#include "sfumato/data/keys/key.hpp"

namespace sfumato::lab {

/// What second moments get of the budget if nothing else is said.
inline constexpr double kMetricShare = 0.3;

/// Train one model of D with a guarantee, to be released.
struct PrivateTrainQuestion {
  std::string study;                       ///< file, with one private noise policy
  std::vector<std::string> settings = {};  ///< key=value, over what the file says
  std::optional<double> target_epsilon =
      {};  ///< find the noise for it; none: the study's noise_multiplier
  double target_delta = 1e-5;
  bool allow_large_delta = false;          ///< also above 1 / records
  std::optional<std::uint64_t> seed = {};  ///< of an experiment: no guarantee holds then
  std::string out = {};                    ///< directory for the model; empty: it is not kept
  bool force = false;                      ///< replace what is there
  bool hardened = false;   ///< exact noise on integer sums; else Gaussian in floating point
  std::string after = {};  ///< what was released before about these records; the target is for all
  std::string budget = {},
              limit = {};  ///< file that the run is booked in, and what all runs in it may spend

  // Of the metric `input` (Spec §22.4 and §23.4).
  std::optional<double> metric_share =
      {};  ///< of the budget, for the second moments; none: kMetricShare
  // Over what the study says.
  std::optional<double> metric_floor = {};         ///< of the eigenvalues, in edges of their noise
  std::optional<double> input_bound = {};          ///< longer inputs are scaled down in the moments
  std::optional<MetricLayers> metric_layers = {};  ///< whose inputs are whitened
};

[[nodiscard]] const Keys<PrivateTrainQuestion>& private_train_keys();

}  // namespace sfumato::lab
