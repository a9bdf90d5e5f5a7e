// A bare number where an Epsilon belongs: the unit must be said.
// error: (could not convert|no viable conversion|no known conversion).*double.*Epsilon
#include "sfumato/core/units.hpp"

using sfumato::Epsilon;

double e_power(Epsilon eps);

#ifdef SHOULD_FAIL
double value() { return e_power(1.0); }
#else
double value() { return e_power(Epsilon(1.0)); }
#endif
