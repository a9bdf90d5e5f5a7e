#pragma once

#include "sfumato/answers/fit/question.hpp"
#include "sfumato/data/keys/key.hpp"

namespace sfumato {

[[nodiscard]] const Keys<FitQuestion>& fit_keys();

}  // namespace sfumato
