#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sfumato/answers/audit/input.hpp"
#include "sfumato/report/document.hpp"
#include "sfumato/study/odometer_risk.hpp"
#include "sfumato/study/proven_bounds.hpp"

namespace sfumato {

/// What is known about the models of one policy, from both sides.
struct Sandwich {
  std::string policy;
  Audit audit;
  ProvenBounds proven;
  std::optional<OdometerRisk> odometer;
  std::string no_odometer = {};  ///< why there is none
};

/// Proven upper bound, the odometer's estimate and audited lower bound side by side. A lower bound above a
/// proven upper one is stated as a violation, above the odometer as a warning.
/// Returns whether there is a violation.
[[nodiscard]] bool add_sandwich(Document& document, const std::vector<Sandwich>& policies,
                                const AuditCommand& command);

}  // namespace sfumato
