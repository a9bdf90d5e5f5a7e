#pragma once

#include "sfumato/data/keys/key.hpp"
#include "sfumato/fit/fit_question.hpp"

namespace sfumato {

[[nodiscard]] const Keys<FitQuestion>& fit_keys();

}  // namespace sfumato
