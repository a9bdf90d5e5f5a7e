#pragma once

#include "sfumato/data/keys/key.hpp"
#include "sfumato/design/design_question.hpp"

namespace sfumato {

[[nodiscard]] const Keys<DesignQuestion>& design_keys();

}  // namespace sfumato
