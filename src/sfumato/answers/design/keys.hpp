#pragma once

#include "sfumato/answers/design/question.hpp"
#include "sfumato/data/keys/key.hpp"

namespace sfumato {

[[nodiscard]] const Keys<DesignQuestion>& design_keys();

}  // namespace sfumato
