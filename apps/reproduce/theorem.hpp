#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sfumato/core/claim.hpp"
#include "sfumato/divergence/fokker_planck_pair.hpp"
#include "sfumato/sde/ou_pair.hpp"

namespace sfumato::apps {

/// One formula of the paper in one case: as printed, corrected, and what it is a formula of.
struct PrintedCase {
  std::string formula;  ///< key of the formula: main_theorem, first_proposition, ...
  std::string setting;  ///< the case, in symbols
  int erratum;          ///< row of docs/errata.md; 0: confirmed
  Claimed<double> truth;
  double printed;
  std::optional<Claimed<double>> corrected;  ///< none where the printed formula is the right one
  bool holds;  ///< the printed number bounds (or is, for a formula that is no bound) the truth
};

/// The counterexamples of docs/errata.md and the cases in which a printed formula is right, computed
/// anew: the main theorem, both propositions, the convergence lemma, the log-Sobolev constant, the
/// invariant distribution, the bound with the norm of the noise, the quadratic's covariance and error, the
/// concentration corollary and the advantage bound.
[[nodiscard]] std::vector<PrintedCase> printed_cases();

/// B_1 / B_2 of the two printed propositions with the same constants, and the ratio that the paper
/// states, 16 (4 + C_0 sigma'^2 kappa').
struct PropositionRatio {
  double start_constant, variance, kappa;
  double computed;
  double stated;
};
[[nodiscard]] std::vector<PropositionRatio> proposition_ratios();

/// How often the integral bound fails on random pairs of Ornstein-Uhlenbeck processes with unequal
/// noise in up to three dimensions, against the exact KL.
struct RandomPairCount {
  std::size_t pairs = 0;
  std::size_t printed_violated = 0;
  std::size_t primal_violated = 0, dual_violated = 0;
  double worst_printed = 0.0;  ///< largest KL / printed bound
};
[[nodiscard]] RandomPairCount count_violations(std::size_t pairs, std::uint64_t seed);

/// Erratum 1: rates 1/2 and 1, noise 3/4 and 1, from N(0, 1/2). The printed bound is 0 at all times.
[[nodiscard]] OuPair halved_phi_pair();
/// Erratum 12: rates 2 and 0.1, equal noise, from the point 10.
[[nodiscard]] OuPair final_distribution_pair();

/// Erratum 1 with noise that depends on the state, Sigma = 1 + 0.5/(1 + x^2) against 1, by the
/// Fokker-Planck equations. `printed` is the largest printed integrand |Phi|^2 / (2 Sigma) on [-8, 8]
/// times the time: 0 up to rounding.
struct MultiplicativeNoise {
  PairSolution solution;
  std::vector<double> printed;
};
[[nodiscard]] MultiplicativeNoise multiplicative_noise(const std::vector<double>& times);

}  // namespace sfumato::apps
