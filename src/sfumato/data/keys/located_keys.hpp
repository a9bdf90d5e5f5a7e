#pragma once

#include <string>
#include <vector>

#include "sfumato/core/error.hpp"
#include "sfumato/data/keys/key.hpp"

namespace sfumato {

/// Where the file, or an option over it, gives the key of a question that spreads over the tables of `root`;
/// as it is if nothing does, or if it is no key.
[[nodiscard]] Where place_of_key(const TomlTable& root, const std::vector<KeyInfo>& keys,
                                 const Where& where);

/// Calls `work`, which answers or checks the question of `root`. An error at a key of the question is thrown again
/// at the place that gave its value.
template <class Work>
decltype(auto) located_keys(const TomlTable& root, const std::vector<KeyInfo>& keys, Work&& work) {
  try {
    return work();
  } catch (const InvalidArgument& error) {
    if (!error.where().is_key()) throw;
    throw InvalidArgument(error.advice(), "", place_of_key(root, keys, error.where()));
  } catch (const NumericalFailure& error) {
    if (!error.where().is_key()) throw;
    throw NumericalFailure(error.advice(), "", place_of_key(root, keys, error.where()));
  }
}

}  // namespace sfumato
