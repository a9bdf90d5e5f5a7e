#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sfumato/risk/risk.hpp"
#include "sfumato/rows/classification_rows.hpp"
#include "sfumato/sde/contraction.hpp"
#include "sfumato/sde/problem/classification_fit.hpp"

namespace sfumato {

/// Constants that hold for the losses of a table and of a neighbour alike.
[[nodiscard]] HessianBounds common_bounds(const Convexity& table, const Convexity& neighbour);

/// row_bounds() of the problem that was fitted.
[[nodiscard]] ClassificationRows row_bounds(const ClassificationFit& fit,
                                            const RowRiskOptions& options, Observer& observer);

/// What is proven of one neighbour; no risk where it has no minimiser and nothing else applies.
struct NeighbourBounds {
  std::optional<Risk> risk;
  std::optional<Claimed<double>> mu;
  std::vector<std::string> notes;
};

/// The same for one neighbour, every view of its risk. Throws as above.
[[nodiscard]] NeighbourBounds neighbour_bounds(const ClassificationFit& fit,
                                               const Neighbour& neighbour, const Release& release);

}  // namespace sfumato
