#pragma once

#include "sfumato/answers/verify/registry.hpp"

namespace sfumato {

/// Every function that golden files name: those of the library and, of Spec §4.4 and §13.1, the paper's.
[[nodiscard]] Registry golden_functions();

}  // namespace sfumato
