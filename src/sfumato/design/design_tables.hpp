#pragma once

#include "sfumato/design/design_answer.hpp"
#include "sfumato/report/document.hpp"

namespace sfumato {

/// What one design is and achieves; in brief without how each number was computed.
[[nodiscard]] Table design_table(const DesignAnswer& answer, const Design& design, Detail detail);

/// Cost against error for the asked form and for isotropic noise; in brief every fifth point.
[[nodiscard]] Table frontier_table(const DesignAnswer& answer,
                                   const std::vector<DesignFrontierPoint>& points, Detail detail);
[[nodiscard]] Figure frontier_figure(const DesignAnswer& answer,
                                     const std::vector<DesignFrontierPoint>& points);

/// What each round on a problem achieved, and what the best one is.
[[nodiscard]] Table rounds_table(const IterationAnswer& rounds);
[[nodiscard]] Table iterated_table(const DesignAnswer& answer, const IterationAnswer& rounds,
                                   Detail detail);

/// The largest shares of the budget, by coordinate or group, as a table and a figure.
void add_shares(Document& document, const DesignAnswer& answer, const Covariance& noise);

}  // namespace sfumato
