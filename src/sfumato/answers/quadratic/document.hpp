#pragma once

#include "sfumato/answers/quadratic/answer.hpp"
#include "sfumato/report/document.hpp"

namespace sfumato {

/// In full: the problem, risk, (epsilon, delta), Renyi, bounds of a chain, accuracy, noise floor, figures. In
/// brief: risk and accuracy of each look, in the worse direction.
[[nodiscard]] Document document_of(const QuadraticAnswer& answer, Detail detail);

}  // namespace sfumato
