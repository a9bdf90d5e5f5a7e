#pragma once

#include <utility>

#include "sfumato/core/error.hpp"

namespace sfumato {

/// Calls `work`. An error that names only a function of ours is thrown again with `where`, the place
/// that gave the values: what the library refuses is then told in the words of a user's file.
///
/// Returns  what `work` returns.
/// Throws   what `work` throws. Places in files stay as they are, and so do our own bugs.
template <class Work>
decltype(auto) located(const Where& where, Work&& work) {
  try {
    return std::forward<Work>(work)();
  } catch (const InvalidArgument& error) {
    if (!error.where().is_function()) throw;
    throw InvalidArgument(error, where);
  } catch (const NumericalFailure& error) {
    if (!error.where().is_function()) throw;
    throw NumericalFailure(error, where);
  }
}

}  // namespace sfumato
