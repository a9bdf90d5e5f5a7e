#pragma once

#include "sfumato/account/contour/contour.hpp"
#include "sfumato/account/lattice/loss_law.hpp"

namespace sfumato {

/// delta(eps) = P(L > eps) - e^eps Q(L > eps) of one step alone, from its distribution functions: neither lattice nor contour.
/// eps is finite. Wide only where both terms agree in nearly all their digits.
[[nodiscard]] LogEnclosure one_step_delta(const LossLaw& law, double eps);

}  // namespace sfumato
