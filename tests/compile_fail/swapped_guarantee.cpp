// Epsilon and delta in the wrong order.
// error: (could not convert|no viable conversion|no known conversion).*Delta.*Epsilon
#include "sfumato/core/units.hpp"

using sfumato::Delta;
using sfumato::Epsilon;

struct Pair {
  Epsilon epsilon;
  Delta delta;
};

#ifdef SHOULD_FAIL
Pair value() { return {Delta(1e-5), Epsilon(1.0)}; }
#else
Pair value() { return {Epsilon(1.0), Delta(1e-5)}; }
#endif
