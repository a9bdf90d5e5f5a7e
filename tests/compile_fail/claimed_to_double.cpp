// A claimed number does not lose its claim by itself.
// error: (cannot convert|no viable conversion|no known conversion).*Claimed.*double
#include "sfumato/core/claim.hpp"
#include "sfumato/core/units.hpp"

using sfumato::Claimed;
using sfumato::Nats;

#ifdef SHOULD_FAIL
double value(const Claimed<Nats>& kl) { return kl; }
#else
double value(const Claimed<Nats>& kl) { return kl.value.value(); }
#endif
