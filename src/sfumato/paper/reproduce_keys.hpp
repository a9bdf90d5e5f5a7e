#pragma once

#include "sfumato/data/keys/key.hpp"
#include "sfumato/paper/run.hpp"

namespace sfumato {

/// What a reproduction is asked by, on the command line or in a TOML file.
[[nodiscard]] const Keys<ReproduceRequest>& reproduce_keys();

}  // namespace sfumato
