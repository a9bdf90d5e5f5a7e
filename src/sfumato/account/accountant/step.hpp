#pragma once

#include <string_view>
#include <variant>

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

/// The same for a group of records that is removed or added together, each sampled by itself (Spec §19.5):
///
///   r_g(z) = sum_j binom(g, j) q^j (1 - q)^{g-j} e^{j m z - j^2 m^2/2},   remove: (r_g, 1),   add: (1, r_g)
struct GroupGaussian {
  double q;
  double m;  ///< of one record
  int g;     ///< records of the group, >= 1
  double k;
  StepDirection direction = StepDirection::remove;  ///< not `replace`
};

/// Steps that sample a fixed number of the records, one of which is replaced (Spec §17.3). With r of SampledGaussian, the loss is
/// log r or -log r with z > m/2, and 0 with probability (1 - q)(2 Phi(m/2) - 1).
struct TwoSidedGaussian {
  double q;  ///< batch size / records, in (0, 1)
  double m;  ///< 2 / noise multiplier: the distance of two records
  double k;
};

/// Steps that add noise of a Laplace distribution to what changes by at most its scale times eps0 (Spec §17.4).
struct LaplaceStep {
  double eps0;  ///< sensitivity / scale, > 0
  double k;
};

/// Steps known to be eps0-DP and nothing else: the worst of them answers truthfully with odds e^eps0 (Spec §17.4). The delta0 of a step
/// that is (eps0, delta0)-DP belongs into TotalLoss::log_survival.
struct RandomisedResponse {
  double eps0;  ///< > 0
  double k;
};

using StepLoss =
    std::variant<SampledGaussian, GroupGaussian, TwoSidedGaussian, LaplaceStep, RandomisedResponse>;

/// How many steps there are of one kind.
[[nodiscard]] double count_of(const StepLoss& step);

/// The largest loss of one step: +inf where it is not bounded.
[[nodiscard]] double highest_loss(const StepLoss& step);

[[nodiscard]] StepLoss swapped(const StepLoss& step);

/// Throws InvalidArgument if a number of the step is outside what its comment says.
void require_valid(const StepLoss& step);

}  // namespace sfumato
