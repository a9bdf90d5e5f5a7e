#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sfumato/sde/diffusion.hpp"
#include "sfumato/sde/law.hpp"
#include "sfumato/sde/ou_pair.hpp"

namespace sfumato {

/// Two diffusions with known numbers, shared by tests, benchmarks and documentation.
struct AnalyticPair {
  std::string name;
  std::string description;
  Diffusion p;
  Diffusion q;
  GaussianLaw start;            ///< of both
  std::optional<OuPair> exact;  ///< where both are linear
};

///   double_well_equal      x - x^3 against x - x^3 + 0.2 + 0.1 x, Sigma = 0.64       Spec §12.3
///   double_well_unequal    the same with Sigma' = 0.8                                 Spec §12.3
///   multiplicative         Sigma = 1 + 0.5/(1 + x^2) against 1; the printed Phi is 0  errata 1
///   wells_2d               x^4/4 - x^2/2 + (y - x/2)^2 against a tilted one           Spec §12.4
///   ou_path_bound          k = 1 against 1.5 with another minimiser, point start      Spec §12.1
///   ou_unequal_noise       -x/2 with 0.75 against -x with 1; the printed bound is 0   errata 1
///   ou_sharp               equal curvature, shifted minimisers, point start: the
///                          contractive bound is attained                              Spec §6.3
///   ou_far_shift           sigma = 3, minimisers 100 apart                            errata 6a
///   ou_far_start           k = 1 against 2 from x0 = 100                              errata 6c
///   ou_noise_ratio         sigma = 10 against 0.1                                     errata 6d
///   ou_path_time           k = 2 against 0.1 from x0 = 10                             errata 12
///   ou_no_commute          A and Sigma that do not commute, in two dimensions         errata 15
[[nodiscard]] const std::vector<AnalyticPair>& analytic_pairs();

/// Throws InvalidArgument with the nearest known name.
[[nodiscard]] const AnalyticPair& analytic_pair(std::string_view name);

}  // namespace sfumato
