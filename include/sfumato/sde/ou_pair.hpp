#pragma once

#include "sfumato/sde/law.hpp"
#include "sfumato/sde/ou_law.hpp"

namespace sfumato {

/// Two Ornstein-Uhlenbeck processes, the first of data D and the second of data D'. Bounds are on
/// KL(p || q); those on KL(q || p) are the bounds of swapped(pair).
struct OuPair {
  OuProcess p;
  GaussianLaw start_p;
  OuProcess q;
  GaussianLaw start_q;
};

[[nodiscard]] inline OuPair swapped(const OuPair& pair) {
  return {pair.q, pair.start_q, pair.p, pair.start_p};
}

}  // namespace sfumato
