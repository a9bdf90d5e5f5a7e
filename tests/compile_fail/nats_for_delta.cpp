// A divergence is not a probability.
// error: (could not convert|no viable conversion|no known conversion).*Nats.*Delta
#include "sfumato/core/units.hpp"

using sfumato::Delta;
using sfumato::Nats;

bool small(Delta delta);

#ifdef SHOULD_FAIL
bool value(Nats kl, Delta) { return small(kl); }
#else
bool value(Nats, Delta delta) { return small(delta); }
#endif
