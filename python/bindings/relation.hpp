#pragma once

#include <initializer_list>
#include <string>
#include <vector>

#include "sfumato/account/accountant/release.hpp"
#include "sfumato/core/error.hpp"
#include "sfumato/core/suggest.hpp"

namespace sfumato::python {

/// The one of these values that has that name.
/// Throws   InvalidArgument at the key that suggests the nearest.
template <class E>
E by_name(const std::string& key, const std::string& given, std::initializer_list<E> values) {
  std::vector<std::string> names;
  for (const E value : values) {
    if (name(value) == given) return value;
    names.emplace_back(name(value));
  }
  throw InvalidArgument("`" + key + "` = \"" + given + "\" is unknown",
                        suggestion(given, names, "values"), Where::key(key));
}

/// "add_remove", "zero_out" or "replace_one".
[[nodiscard]] inline NeighbouringRelation relation_of(const std::string& adjacency) {
  return by_name("adjacency", adjacency,
                 {NeighbouringRelation::add_remove, NeighbouringRelation::zero_out,
                  NeighbouringRelation::replace_one});
}

}  // namespace sfumato::python
