#pragma once

#include <string>

#include "sfumato/privacy/accounting/accountant.hpp"

namespace sfumato {

/// The state of an accountant as TOML (Spec §20.2), which `sfumato account` reads: the releases and nothing that is derived, so that saving and
/// loading changes no bit of any result.
[[nodiscard]] std::string save(const Accountant& accountant);
/// Throws   InvalidArgument with line and column; `source` names the text.
[[nodiscard]] Accountant load_accountant(const std::string& text, const std::string& source);

}  // namespace sfumato
