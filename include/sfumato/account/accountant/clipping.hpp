#pragma once

#include <vector>

#include "sfumato/math/covariance.hpp"

namespace sfumato {

/// The most that one record can contribute to a batch sum, in standard deviations of the noise that is added to it: whatever the clip and
/// the noise are, only this number matters (Spec §19.4). Its inverse is the noise multiplier of GaussianNoise. Sigma must not depend on the data.
/// Rounded up.
///
/// Throws   InvalidArgument if a clip is negative, sizes differ or a number is not finite; NumericalFailure if Sigma is singular.

/// sqrt(g^T Sigma^{-1} g) <= clip.
[[nodiscard]] double contribution_in_metric(double clip);

/// |g| <= clip, noise N(0, Sigma): clip / sqrt(least eigenvalue).
[[nodiscard]] double contribution_of_ball(double clip, const Covariance& sigma);

/// |g_i| <= clips[i], independent noise of variance variances[i].
[[nodiscard]] double contribution_of_box(const std::vector<double>& clips,
                                         const std::vector<double>& variances);

/// The part of the gradient in each layer (or other group) is clipped to clips[l] by itself and gets noise of deviation noise_stds[l];
/// one sampling decision for all of them. Layers that are sampled independently are releases of their own.
[[nodiscard]] double contribution_of_layers(const std::vector<double>& clips,
                                            const std::vector<double>& noise_stds);

/// The noise multiplier of a contribution, rounded down.
[[nodiscard]] double multiplier_of(double contribution);

}  // namespace sfumato
