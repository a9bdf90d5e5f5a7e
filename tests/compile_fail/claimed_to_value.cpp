// Nor does it turn into the bare quantity.
// error: (could not convert|no viable conversion|no known conversion).*Claimed.*Nats
#include "sfumato/core/claim.hpp"
#include "sfumato/core/units.hpp"

using sfumato::Claimed;
using sfumato::Nats;

#ifdef SHOULD_FAIL
Nats value(const Claimed<Nats>& kl) { return kl; }
#else
Nats value(const Claimed<Nats>& kl) { return kl.value; }
#endif
