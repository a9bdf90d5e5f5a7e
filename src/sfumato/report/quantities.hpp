#pragma once

#include <span>
#include <string_view>

namespace sfumato {

/// A number that answers have, described once: results of a document name it, Python has it as an attribute, and the
/// reference of docs/json.md lists it.
struct Quantity {
  std::string_view command;
  std::string_view name;  ///< of the result: "epsilon_upper"; ends in "_at_" if a number follows
  std::string_view attribute;  ///< of the answer in Python: "epsilon.upper"; empty: none
  std::string_view of;  ///< what it is of, beside the answer: "delta"; commas between several
  std::string_view meaning;
};

/// All numbers of all commands, each command's in one piece.
[[nodiscard]] std::span<const Quantity> all_quantities();

/// Whether a result of a command may be called so.
[[nodiscard]] bool is_quantity(std::string_view command, std::string_view name);

}  // namespace sfumato
