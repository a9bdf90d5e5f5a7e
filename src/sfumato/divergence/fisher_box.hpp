#pragma once

#include <Eigen/Core>
#include <functional>
#include <optional>
#include <string>

#include "sfumato/divergence/fisher_information.hpp"
#include "sfumato/math/covariance.hpp"
#include "sfumato/sde/diffusion.hpp"

namespace sfumato {

/// Bounds on the Fisher information from constants of the drift alone (Spec §27.6).

/// Gbar >= (Db(x) - B)^T Sigma^{-1} (Db(x) - B) for all x.
/// Spec §27.6 (4): from radii of the Jacobian, entry by entry.
/// Throws   NumericalFailure if the noise is singular.
[[nodiscard]] Eigen::MatrixXd jacobian_spread(const Eigen::MatrixXd& radii,
                                              const Covariance& noise);

/// For b = -grad f with lower <= Hess f <= upper as symmetric matrices: (omega/4) (upper - lower), omega its largest
/// eigenvalue relative to the noise.
struct HessianSpread {
  double omega;
  Eigen::MatrixXd spread;
};
[[nodiscard]] HessianSpread hessian_spread(const Eigen::MatrixXd& lower,
                                           const Eigen::MatrixXd& upper, const Covariance& noise);

/// Spec §27.6 (1), (5): the flow of upper bounds for the middle B of the Jacobians and their spread; every theta > 0
/// gives one. theta is ignored where the spread is zero.
/// Throws   as FisherFlow; InvalidArgument unless theta is finite and positive.
[[nodiscard]] FisherFlow fisher_box(const Eigen::MatrixXd& middle, const Eigen::MatrixXd& spread,
                                    const Covariance& noise, double theta);

/// The smallest bound(flow) over a few theta, around the one whose flow has the least tr(weight X); what a flow refuses is
/// left in `reason`. +inf where none has a bound.
[[nodiscard]] double best_flow_bound(const Eigen::MatrixXd& middle, const Eigen::MatrixXd& spread,
                                     const Covariance& noise, const Eigen::MatrixXd& weight,
                                     const std::function<double(const FisherFlow&)>& bound,
                                     std::string& reason);

/// Spec §27.3 (2) with  delta_s = delta(s, tr(weight J_s)),  J the flow from the start: the first cell is as short as
/// the flow, the start and `scale` change.
[[nodiscard]] double flow_shift_bound(
    const FisherFlow& flow, const FisherInformation& start, const Covariance& noise,
    const Eigen::MatrixXd& weight, double scale,
    const std::function<double(double time, double fisher)>& delta, double kappa, double time);

/// What Spec §27.6 (2) needs of a pair, in one metric.
struct ConstantsBound {
  double fisher_limit;  ///< tr(P X)
  double age;           ///< of the start; +inf if J_0 <= X
  double delta_end;     ///< at time t
  double bound;
};
/// The bound with delta_s^2 = drift_part + tr(P J), J from a point that is as old as the start: (3) for kappa >= 0.
/// Throws   InvalidArgument if kappa or time is negative or not finite.
[[nodiscard]] ConstantsBound constants_bound(const FisherFlow& flow, const FisherInformation& start,
                                             const Eigen::MatrixXd& weight, double drift_part,
                                             double kappa, double time);

/// The isotropic form (Spec §27.6 (3)).
struct IsotropicBound {
  double fisher;
  double delta;
  double bound;
};
/// noise, noise_prime: sigma and sigma'. lipschitz: L of grad f; drift: |grad f - grad f'|_{L2}/sigma' at most.
/// Throws   InvalidArgument unless the numbers are finite, sigma and sigma' positive, the others not negative.
[[nodiscard]] IsotropicBound isotropic_constants_bound(double noise, double noise_prime,
                                                       double lipschitz, double kappa_prime,
                                                       double drift, Eigen::Index dimension,
                                                       double time);

}  // namespace sfumato
