#pragma once

#include <array>
#include <cstddef>

namespace sfumato::apps {

/// The numbers that the paper prints: [Borovykh2023], Tables 1 and 2 and the caption of the membership figure.
inline constexpr const char* kIsotropicPerLayer = "isotropic_per_layer";
inline constexpr const char* kAnisotropic = "anisotropic";

/// Table 1: SGD without added noise, one row per batch size.
struct PrintedBatch {
  std::size_t batch;
  const char* study;              ///< studies/NAME.toml
  std::array<double, 3> printed;  ///< delta at the epsilons
};
inline constexpr std::array kTable1Epsilons = {0.1, 0.01, 0.001};
inline constexpr std::array kTable1 = {PrintedBatch{500, "table1_b500", {0.07, 0.20, 0.30}},
                                       PrintedBatch{1000, "table1_b1000", {0.11, 0.24, 0.35}}};

/// One row of a setting of Table 2: delta at eps = 0.1, and the worst loss.
struct PrintedNoise {
  double delta, worst_loss;
};
/// Isotropic per layer, anisotropic.
using PrintedNoises = std::array<PrintedNoise, 2>;
inline constexpr PrintedNoises kTable2S1 = {{{0.0015, 0.35}, {0.0012, 0.14}}};
inline constexpr PrintedNoises kTable2S2 = {{{0.061, 0.37}, {0.062, 0.26}}};
inline constexpr PrintedNoises kTable2S3 = {{{0.30, 3.1}, {0.00060, 0.0062}}};

/// Membership inference: the distance of the mean losses on the differing record, and the worst loss.
struct PrintedPanel {
  const char* policy;
  double distance, worst_loss;
};
inline constexpr std::array kMembership = {PrintedPanel{kAnisotropic, 0.0008, 0.43},
                                           PrintedPanel{kIsotropicPerLayer, 0.0004, 0.52}};

}  // namespace sfumato::apps
