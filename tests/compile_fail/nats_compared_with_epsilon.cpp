// Both are in nats, but a divergence is an average and an epsilon a bound: comparing them means nothing.
// error: (no match for 'operator<'|invalid operands to binary expression).*Nats.*Epsilon
#include "sfumato/core/units.hpp"

using sfumato::Epsilon;
using sfumato::Nats;

#ifdef SHOULD_FAIL
bool value(Nats kl, Epsilon eps) { return kl < eps; }
#else
bool value(Nats kl, Nats other) { return kl < other; }
#endif
