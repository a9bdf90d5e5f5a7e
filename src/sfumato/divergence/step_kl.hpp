#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <span>
#include <vector>

namespace sfumato {

/// The relative entropy of one step of x <- x - eta g + N(0, S) against one with g', S', both from
/// the same point, in nats. All throw InvalidArgument for sizes that differ, gradients that are not
/// finite, or a constant that is not of the sign given.

/// A relative entropy, and which coordinates make it infinite.
struct StepKl {
  double nats = 0.0;
  std::size_t infinite = 0;                 ///< coordinates that are infinite
  std::vector<std::size_t> first_infinite;  ///< the first of them, at most kNamedCoordinates
  static constexpr std::size_t kNamedCoordinates = 8;
};

/// Exact, for diagonal S; off by less than 1e-14 of the result. About 4 ns per coordinate.
///
///   Spec §8.1 (1):   1/2 sum_i [ psi(S_i/S'_i) + eta^2 (g_i - g'_i)^2 / S'_i ]
///
/// Edges   S_i = S'_i = 0 gives 0 where g_i = g'_i and +inf elsewhere; exactly one zero gives +inf.
[[nodiscard]] StepKl step_kl_by_coordinate(double learning_rate, std::span<const double> gradient,
                                           std::span<const double> gradient_prime,
                                           std::span<const double> variances,
                                           std::span<const double> variances_prime);

/// What every user of a gradient-scaled scheme must be told (Spec §8.5).
inline constexpr const char* kGradientScaledWarning =
    "the noise scale depends on the private data: part of the risk does not depend on the noise "
    "level, "
    "and no worst-case guarantee exists";

/// S_i = sigma^2 |g_i|: noise scaled by the private gradient (Spec §8.5 (1)). Exact for this pair
/// of gradients; +inf where g'_i = 0 and g_i is not. See kGradientScaledWarning.
[[nodiscard]] double gradient_scaled_step_kl(double learning_rate, double variance,
                                             const Eigen::VectorXd& gradient,
                                             const Eigen::VectorXd& gradient_prime);

/// S_i = sigma^2 max |g| over the layer of i; `layers` are the numbers of parameters of consecutive
/// layers, empty for one layer. See kGradientScaledWarning.
[[nodiscard]] double layer_max_step_kl(double learning_rate, double variance,
                                       const Eigen::VectorXd& gradient,
                                       const Eigen::VectorXd& gradient_prime,
                                       const std::vector<Eigen::Index>& layers = {});

/// S_i = sigma^2 max(|g_i|, floor), floor > 0 (Spec §8.6). Exact for this pair of gradients.
[[nodiscard]] double floored_step_kl(double learning_rate, double variance, double floor,
                                     const Eigen::VectorXd& gradient,
                                     const Eigen::VectorXd& gradient_prime);

/// An upper bound on floored_step_kl for all gradients with |g_i - g'_i| <= sensitivity_i, attained
/// (Spec §8.6 (1)); k steps cost at most k times as much.
[[nodiscard]] double floored_step_kl_bound(double learning_rate, double variance, double floor,
                                           const Eigen::VectorXd& sensitivities);

}  // namespace sfumato
