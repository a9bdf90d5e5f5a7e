#pragma once

#include <cstdint>

namespace sfumato {

/// Discrete Gaussian noise of parameter n on integer sums, in place of the continuous one (Spec §24.3): what it reveals is that of a Gaussian
/// mechanism with mu a little larger, and e^slack more.
struct DiscreteNoiseCost {
  double mu_factor;  ///< mu' / mu = 1 / sqrt(1 - r^2/n^2)
  double log_slack;  ///< D h: deltas grow by e^{D h}, at an epsilon lower by 2 D h
};

/// `draws` is the number D of coordinates times steps; `rounding` is r, 0 < r < n.
/// Throws   InvalidArgument otherwise.
[[nodiscard]] DiscreteNoiseCost discrete_noise_cost(double n, double draws, double rounding = 2.0);

/// The factor by which the noise multiplier of continuous noise must be divided so that an accountant's numbers hold for discrete noise of parameter n >= 1024 and
/// up to 1e12 draws: mu' / mu, and 1e-12 more, which covers the slack of 1e-22 many times over.
/// Throws   InvalidArgument for coarser grids and more draws.
[[nodiscard]] double discrete_noise_factor(std::int64_t n, double draws);

/// sup_A P(A) - e^eps Q(A), P shifted by an integer: the sum itself, and its bound by a Gaussian mechanism.
struct DiscreteDelta {
  double exact, bound;
  double mu_inflated;
};
[[nodiscard]] DiscreteDelta discrete_gaussian_delta(double n, std::int64_t shift, double eps,
                                                    double rounding = 2.0);

/// The mu of Gaussian privacy that a pure epsilon implies (Spec §21.4).
[[nodiscard]] double mu_of_pure_epsilon(double epsilon);

}  // namespace sfumato
