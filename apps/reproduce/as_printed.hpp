#pragma once

#include <Eigen/Core>
#include <optional>
#include <string>

#include "sfumato/divergence/convexity_bounds.hpp"
#include "sfumato/divergence/ou_pair.hpp"

/// The formulas that the paper prints [Borovykh2023], for comparison only. Each result says whether
/// it holds in the case at hand; docs/errata.md lists what is wrong with each, and the corrected
/// function is named beside it. Never use one as a bound.
namespace sfumato::as_printed {

struct Printed {
  double value;
  bool valid;          ///< holds in this case; not that it is a bound in general
  std::string reason;  ///< why it holds or fails here
};

/// The printed integral bound on KL(p_t || q_t), 1/2 int E_{p_s} |Sigma^{-1/2} Phi|^2 ds, whose Phi
/// lacks both factors 1/2 (erratum 1; corrected: entropy_rate_bounds). Valid for equal covariances,
/// where it agrees; otherwise compared with the exact KL.
///
/// Edges    +inf for a singular start and different covariances (erratum 2), and for a singular
///          Sigma.
/// Throws   InvalidArgument unless time is finite and >= 0.
[[nodiscard]] Printed entropy_bound(const OuPair& pair, double time);

/// C_t with rho = sigma^2 kappa / 2 (errata 4, 5; corrected: lsi_constant). Valid where it is not
/// below the constant of the isotropic Ornstein-Uhlenbeck process, which is exact.
[[nodiscard]] Printed lsi_constant(double variance, double kappa, double start_constant,
                                   double time);

/// First proposition: KL(p_t || q_t) for all t (erratum 6; corrected: kl_bound_uniform,
/// kl_bound_unequal). Without an exact KL to compare with it counts as invalid: there is no proof.
[[nodiscard]] Printed uniform_proposition(const LangevinConstants& constants, double start_constant,
                                          std::optional<double> exact_kl = {});

/// Second proposition: KL of the invariant distributions (erratum 10; corrected: kl_bound_stationary), as in
/// the main text. Without an exact KL to compare with it counts as invalid.
[[nodiscard]] Printed stationary_proposition(const LangevinConstants& constants,
                                             std::optional<double> exact_kl = {});

/// Convergence lemma: 1/2 E|x_t - x*|^2 <= e^{-2 kappa t} + tr(Sigma)/(4 kappa) (erratum 11;
/// corrected: half of mean_square_distance_bound, which is attained and decides the validity).
[[nodiscard]] Printed convergence_lemma(double noise_trace, double kappa, double start_distance,
                                        double time);

/// Which distribution the printed expectation is read under.
enum class Under { final_distribution, running_distribution };

/// |Sigma^{-1}| int_0^t E |grad f' - grad f|^2 ds under p_t as printed, or under p_s as must be
/// meant (erratum 12; corrected: path_bound). Equal covariances only.
///
/// Throws   InvalidArgument if the covariances differ or time is not finite; NumericalFailure if
///          they are singular.
[[nodiscard]] Printed noise_norm_bound(const OuPair& pair, double time, Under under);

struct PrintedMatrix {
  Eigen::MatrixXd value;
  bool valid;
  std::string reason;
};

/// V_t = 1/2 (I - e^{-2At}) A^{-1} Sigma (erratum 15; corrected: OuDistribution::at). Valid where A Sigma =
/// Sigma A, for a start at a point; +inf gives the stationary covariance.
///
/// Throws   InvalidArgument as OuDistribution; NumericalFailure if A is singular.
[[nodiscard]] PrintedMatrix quadratic_covariance(const OuProcess& process, double time);

}  // namespace sfumato::as_printed
