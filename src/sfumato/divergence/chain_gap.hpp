#pragma once

#include <optional>
#include <vector>

namespace sfumato {

/// Bounds on the KL of two chains' last iterates from the root-mean-square distances of their
/// steps, d_j = E_{p_j} [ |T(x_j) - T'(x_j)|_S^2 ]^{1/2}, j = 0 .. k-1, for equal and constant S, a
/// common start, and T' that is c-Lipschitz in |.|_S with c <= 1 (Spec §8.3). Larger c are
/// admissible too. All throw InvalidArgument if c is outside [0, 1] or a gap is negative or NaN.

/// ( sum_j c^{k-1-j} d_j )^2 / (2 sum_j c^{2(k-1-j)})  (Spec §8.3 (2)), never above the first form,
/// chain_contractive_bound() of linear_chain.hpp; empty where it is not admissible and could be below the truth.
[[nodiscard]] std::optional<double> chain_bound_second_form(const std::vector<double>& gaps,
                                                            double lipschitz);

}  // namespace sfumato
