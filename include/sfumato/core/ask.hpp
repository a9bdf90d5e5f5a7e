#pragma once

#include "sfumato/core/observer.hpp"

namespace sfumato {

/// answer() of any question, by a caller who neither watches nor stops it.
template <class Question>
[[nodiscard]] auto answer(const Question& question) {
  Observer nobody;
  return answer(question, nobody);
}

}  // namespace sfumato
