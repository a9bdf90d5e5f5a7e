#pragma once

#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <string>
#include <tuple>
#include <vector>

#include "sfumato/data/toml.hpp"

namespace sfumato::python {

/// A keyword of a call: the path of its key from the root, its value as TOML, what messages call it, and the keys
/// of the same table that it takes the place of.
using Keyword =
    std::tuple<std::vector<std::string>, std::string, std::string, std::vector<std::string>>;

/// The keywords over the file, if one is named. `function` is what messages call the whole.
[[nodiscard]] TomlTable table_of(const std::string& function, const std::string& file,
                                 const std::vector<Keyword>& keywords);

}  // namespace sfumato::python
