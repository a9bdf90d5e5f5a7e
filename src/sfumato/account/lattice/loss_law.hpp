#pragma once

#include <functional>
#include <vector>

#include "sfumato/account/accountant/step.hpp"

namespace sfumato {

/// A nonnegative number between two ends.
struct MassBounds {
  double lo = 0.0;
  double hi = 0.0;
};

/// How much of a loss is above a threshold and how much is not, under P and under Q.
struct LossTails {
  MassBounds p_above, p_below;
  MassBounds q_above, q_below;
};

/// A loss that has positive probability under P; under Q it has e^-loss times as much.
struct LossAtom {
  double loss;
  MassBounds p_mass;
};

/// The law of the privacy loss L = log dP/dQ of one step under P and under Q, as distribution functions whose rounding
/// errors are bounded: all that pld.hpp knows of a step. It holds if exp, log, asinh and sinh err by at most 2 ulp, erfc by 6.
struct LossLaw {
  std::vector<LossAtom> atoms;
  /// The rest of the law at a threshold, which itself may be off by a rounding; empty where there are atoms alone.
  std::function<LossTails(double threshold)> tails;
};

/// The law of one step of each kind (Spec §17.2 to §17.4, §19.5).
[[nodiscard]] LossLaw loss_law_of(const StepLoss& step);

/// Normal noise without sampling: E_P e^{sL} = e^{mu^2 s (s+1) / 2}.
[[nodiscard]] LossLaw normal_loss_law(double mu_squared);

}  // namespace sfumato
