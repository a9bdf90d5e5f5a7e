#pragma once

#include <string>
#include <vector>

#include "sfumato/data/keys/key.hpp"

namespace sfumato::apps {

/// Does this build give the reference values of a golden file (Spec §15)?
struct VerifyQuestion {
  std::string file;                   ///< JSON
  std::vector<std::string> sections;  ///< of the specification; empty: all
  bool strict = false;                ///< cases of functions that this build does not know fail too
};

[[nodiscard]] const Keys<VerifyQuestion>& verify_keys();

}  // namespace sfumato::apps
