#pragma once

#include "sfumato/divergence/privacy_loss.hpp"

namespace sfumato {

/// Rounding in the distance of `eps` from a finite end of the range of the loss, which is a sum that cancels.
[[nodiscard]] double vertex_rounding(const PrivacyLoss& loss, double eps);

}  // namespace sfumato
