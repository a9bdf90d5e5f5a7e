#pragma once

#include <complex>
#include <cstdint>
#include <string_view>

namespace sfumato {

/// Which of the two outputs of a step is P and which is Q (Spec §17.2).
enum class StepDirection {
  remove,   ///< P has the record, Q has not
  add,      ///< Q has the record, P has not
  replace,  ///< P has one record, Q another
};

/// "remove", "add" or "replace".
[[nodiscard]] std::string_view name(StepDirection direction);

/// The same steps with P and Q exchanged.
[[nodiscard]] StepDirection swapped(StepDirection direction);

/// Equal steps of a ledger: each samples a record with probability q and adds normal noise to what the
/// sample contributes. The pair of its outputs that is hardest to hide is, z being standard normal under
/// the density without the record and m = 1 / noise multiplier (Spec §17.2),
///
///   r(z) = (1 - q) + q e^{m z - m^2/2},   remove: (r, 1),   add: (1, r),   replace: (r(z), r(-z))
struct SampledGaussian {
  double q;  ///< sampling rate, in (0, 1)
  double m;  ///< largest contribution of a record in standard deviations of the noise, > 0
  double k;  ///< steps, a whole number >= 1
  StepDirection direction = StepDirection::remove;
};

/// log r(z), to the digits of a double also where r nearly vanishes (Spec §17.1 (4)).
[[nodiscard]] double log_ratio(const SampledGaussian& step, double z);

/// The privacy loss L of the pair at z, and the log of P's density over the standard normal one.
struct LossAt {
  double loss;
  double log_density;
};
[[nodiscard]] LossAt loss_at(const SampledGaussian& step, double z);

/// log |r(x + i eta)| and arg r(x + i eta), for 0 <= eta < pi / m; the argument is in [0, m eta].
struct RatioOffAxis {
  double log_modulus;
  double argument;
};
[[nodiscard]] RatioOffAxis ratio_off_axis(const SampledGaussian& step, double x, double eta);

}  // namespace sfumato
