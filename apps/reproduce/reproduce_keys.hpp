#pragma once

#include "reproduce/run.hpp"
#include "sfumato/data/keys/key.hpp"

namespace sfumato::apps {

/// What a reproduction is asked by, on the command line or in a TOML file.
[[nodiscard]] const Keys<ReproduceRequest>& reproduce_keys();

}  // namespace sfumato::apps
