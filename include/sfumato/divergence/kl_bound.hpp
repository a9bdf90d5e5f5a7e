#pragma once

#include <string>

#include "sfumato/core/claim.hpp"
#include "sfumato/core/units.hpp"

namespace sfumato {

/// An upper bound on a relative entropy that may have nothing to say.
struct KlBound {
  Claimed<Nats> kl;
  std::string reason = {};  ///< why kl is infinite and what to do instead; empty when it is finite
};

/// A bound by a Gaussian trade-off curve: the pair is no easier to tell apart than N(0,1), N(mu,1),
/// in both directions.
struct GdpBound {
  Claimed<double> mu;
  Claimed<Nats> kl;  ///< mu^2 / 2, both directions
};

}  // namespace sfumato
