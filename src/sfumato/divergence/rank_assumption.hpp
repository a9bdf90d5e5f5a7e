#pragma once

namespace sfumato {

/// What is assumed where a rank was decided with the tolerance of Spec §2.
inline constexpr const char* kRankAssumption = "variances below 1e-12 of the largest count as zero";

}  // namespace sfumato
