#pragma once

#include <vector>

#include "sfumato/sde/diffusion.hpp"
#include "sfumato/sde/fokker_planck/grid.hpp"
#include "sfumato/sde/fokker_planck/time_plan.hpp"

namespace sfumato {

/// A box in which all the distributions stay until the last of `times`: outside, each density is below about
/// 1e-15 of its peak (Spec §12.3 asks for 1e-14).
///
/// Found by trial runs on a coarse grid, which widen the box where a distribution reaches its end and then cut
/// it to what was used.
///
/// Throws  InvalidArgument as FaceSampler::at and first_panel; NumericalFailure if a distribution is still at
///         the end of a box 200 times as wide as the starts (it escapes: the drift does not confine).
[[nodiscard]] std::vector<Interval> find_domain(const std::vector<StartedDiffusion>& distributions,
                                                double begin, const std::vector<double>& times);

}  // namespace sfumato
