// An Epsilon does not turn into a number by itself.
// error: (cannot convert|no viable conversion|no known conversion).*Epsilon.*double
#include "sfumato/core/units.hpp"

using sfumato::Epsilon;

#ifdef SHOULD_FAIL
double value(Epsilon eps) { return eps; }
#else
double value(Epsilon eps) { return eps.nats(); }
#endif
