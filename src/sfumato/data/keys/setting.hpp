#pragma once

#include <string>

#include "sfumato/data/toml.hpp"

namespace sfumato {

/// `key=value` of --set, the key a path from the root: train.seed=3, d.Sigma=[1, 2].
/// Throws   InvalidArgument if it is not of that form.
[[nodiscard]] TomlOverride setting_of(const std::string& text);

}  // namespace sfumato
