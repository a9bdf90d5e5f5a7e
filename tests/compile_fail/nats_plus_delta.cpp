// A divergence and a probability do not add up.
// error: (no match for 'operator\+'|invalid operands to binary expression).*Nats.*Delta
#include "sfumato/core/units.hpp"

using sfumato::Delta;
using sfumato::Nats;

#ifdef SHOULD_FAIL
double value(Nats kl, Delta delta) { return (kl + delta).value(); }
#else
double value(Nats kl, Delta delta) { return kl.value() + delta.probability(); }
#endif
