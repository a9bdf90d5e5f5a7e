// A Delta where an Epsilon belongs.
// error: (could not convert|no viable conversion|no known conversion).*Delta.*Epsilon
#include "sfumato/core/units.hpp"

using sfumato::Delta;
using sfumato::Epsilon;

double e_power(Epsilon eps);

#ifdef SHOULD_FAIL
double value() { return e_power(Delta(1e-5)); }
#else
double value() { return e_power(Epsilon(1e-5)); }
#endif
