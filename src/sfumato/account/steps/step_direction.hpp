#pragma once

#include <string_view>

namespace sfumato {

/// Which of the two outputs of a step is P and which is Q (Spec §17.2).
enum class StepDirection {
  remove,   ///< P has the record, Q has not
  add,      ///< Q has the record, P has not
  replace,  ///< P has one record, Q another
};

/// "remove", "add" or "replace".
[[nodiscard]] std::string_view name(StepDirection direction);

/// The direction of the same steps with P and Q exchanged.
[[nodiscard]] StepDirection exchanged(StepDirection direction);

}  // namespace sfumato
