#pragma once

#include <vector>

#include "sfumato/answers/design/question.hpp"
#include "sfumato/report/document.hpp"

namespace sfumato {

/// One point of a frontier.
struct FrontierPoint {
  double total;  ///< tr(W Sigma)
  Design design;
};

/// What the design is, what it achieves, where the noise goes and what it must not be used for.
void add_design(Document& document, const DesignQuestion& question, const Design& design, int top);

/// Risk against error for the asked form and for isotropic noise.
void add_frontier(Document& document, const DesignQuestion& question,
                  const std::vector<FrontierPoint>& points);

/// The largest shares of the budget, by coordinate or group.
void add_shares(Document& document, const DesignTask& task, const Covariance& noise, int top);

/// What must stand in every answer: where the differences came from.
void state_origin(Document& document, const std::string& what, const std::string& source,
                  bool is_private);

/// What the cost means for the KL.
void state_cost(Document& document);

}  // namespace sfumato
