#pragma once

#include "sfumato/divergence/pair_bounds.hpp"
#include "sfumato/sde/problem/classification_fit.hpp"

namespace sfumato {

/// The constants of Spec §7 for a classification loss on a table (f) and on a neighbour (f'), both
/// with noise `variance` I and the same start. All are upper bounds that include the distance of the
/// computed minimisers from the true ones.
///
/// |grad f(x'*)|, which the reverse direction needs, is bounded by |grad f'(x*)| plus the Lipschitz
/// constant of the difference times the distance of the minimisers.
[[nodiscard]] PairConstants classification_constants(const ClassificationFit& fit,
                                                     const GradientGap& gap,
                                                     const Convexity& neighbour, double variance,
                                                     const GaussianDistribution& start);

/// |Sigma^{-1/2} (grad f - grad f')| everywhere: GradientGap::everywhere over the least standard
/// deviation. Empty, with the reason, where the gap is unbounded or the noise singular.
[[nodiscard]] Known<Claimed<double>> classification_sensitivity(const GradientGap& gap,
                                                                const Covariance& noise);

/// Noisy gradient flow on a table (D) and on a neighbour (D'), each with a constant noise of its own, from one start:
/// what Spec §27.6 says of logistic regression, and nothing that needs equal noise.
/// Throws   as classification_pair.
[[nodiscard]] SdePair unequal_classification_pair(const ClassificationFit& fit,
                                                  const Neighbour& neighbour,
                                                  const Covariance& noise,
                                                  const Covariance& noise_prime,
                                                  const GaussianDistribution& start);

/// Noisy gradient flow on a table (D) and on a neighbour (D'), with one noise and one start.
/// Throws   InvalidArgument and NumericalFailure as ClassificationFit::neighbours, and for a noise or
///          start of another dimension.
[[nodiscard]] SdePair classification_pair(const ClassificationFit& fit, const Neighbour& neighbour,
                                          const Covariance& noise,
                                          const GaussianDistribution& start);

}  // namespace sfumato
