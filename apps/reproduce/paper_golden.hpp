#pragma once

#include "golden/registry.hpp"

namespace sfumato::apps {

/// Every function that golden files name: those of the library and, of Spec §4.4 and §13.1, the paper's.
[[nodiscard]] Registry golden_functions();

}  // namespace sfumato::apps
