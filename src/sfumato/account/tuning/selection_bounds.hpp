#pragma once

#include <vector>

#include "sfumato/account/accountant/profile_curve.hpp"
#include "sfumato/account/accountant/tuning.hpp"

namespace sfumato {

/// The sharp bound of Spec §30.3 on delta(eps) of the best of a random number of runs: with the largest true-positive rate b(x) of the base
///
///   g(r) = max over x of f'(1 - x) - e^eps f'(1 - b(x)) r  <=  sum_i w_i (1 - e^eps a_i r)_+ ,   delta <= sum_i w_i d(eps + log a_i)
///
/// The lines and their hull do not depend on eps but for its factor.
class SharpSelectionBound {
 public:
  /// `curve` must outlive it; P(K = 1) > 0. Lines are those of `cells` cells of x, from `least_x` on.
  SharpSelectionBound(const ProfileCurve& curve, const RunsDistribution& runs, double least_x,
                      int cells = 60'000);

  /// At least delta(eps) of the best run, eps >= 0.
  [[nodiscard]] double delta_hi(double eps) const;

 private:
  struct Kink {
    double weight, log_a;
  };
  const ProfileCurve& curve_;
  std::vector<Kink> kinks_;
};

/// An epsilon that some base with these profiles exceeds at `delta` (Spec §30.3): the pair itself, with a score by which the smallest losses are best and
/// large ones second; their thresholds are drawn from a cell of the curve. 0 where none is found.
[[nodiscard]] double attained_by_selection(const ProfileCurve& curve, const RunsDistribution& runs,
                                           double delta);

}  // namespace sfumato
