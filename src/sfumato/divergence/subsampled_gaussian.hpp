#pragma once

namespace sfumato {

/// Renyi divergence of order `order` of one step of the Gaussian mechanism on a Poisson sample, in
/// nats; k steps cost k times as much. Add/remove adjacency, sensitivity one clip norm.
///
///   Spec §8.7 (3), [MironovTalwarZhang2019]:
///   1/(a-1) log sum_j binom(a,j) (1-q)^{a-j} q^j exp((j^2-j)/(2 s^2))
///
/// Because the binomial weights sum to one, the sum is 1 + sum_j weight_j expm1(...), whose terms
/// are all positive: no digit is lost for small q.
///
/// Edges    sampling_rate 0 gives 0, 1 gives a/(2 s^2).
/// Throws   InvalidArgument unless sampling_rate is in [0, 1], noise_multiplier is positive and
///          order >= 2.
[[nodiscard]] double subsampled_gaussian_rdp(double sampling_rate, double noise_multiplier,
                                             int order);

}  // namespace sfumato
