#pragma once

#include <string>
#include <vector>

#include "sfumato/core/number_check.hpp"
#include "sfumato/data/toml.hpp"

namespace sfumato {

/// A number, or the numbers of a list, that pass `check`. `label` is what the message calls the key.
/// Throws   InvalidArgument with file:line:column.
[[nodiscard]] double labelled_number(const TomlTable& table, const char* key,
                                     const std::string& label, NumberCheck check);
[[nodiscard]] std::vector<double> labelled_list(const TomlTable& table, const char* key,
                                                const std::string& label, NumberCheck check);

}  // namespace sfumato
