#include "sfumato/core/units.hpp"

#include "sfumato/core/check.hpp"

namespace sfumato {

Epsilon::Epsilon(double nats) : nats_(require_non_negative("epsilon", nats)) {}

Delta::Delta(double probability) : probability_(require_probability("delta", probability)) {}

Nats::Nats(double value) : value_(require_non_negative("divergence", value)) {}

}  // namespace sfumato
