#pragma once

#include <optional>
#include <string>

namespace sfumato {

/// Something that may not be known, and why.
template <class T>
struct Known {
  std::optional<T> value = {};
  std::string reason = {};  ///< why there is no value
};

}  // namespace sfumato
