#pragma once

#include <string>

namespace sfumato::lab {

/// The canonical text of a study whose records count from 0, with `record` of [adjacency] counted from 1, as
/// texts have it today.
[[nodiscard]] std::string records_from_one(const std::string& study);

}  // namespace sfumato::lab
