#pragma once

#include <vector>

#include "sfumato/sde/diffusion.hpp"

namespace sfumato {

/// A polynomial c_0 + c_1 x + ... + c_n x^n.
using Polynomial = std::vector<double>;

[[nodiscard]] Polynomial derivative(const Polynomial& polynomial);
[[nodiscard]] double value(const Polynomial& polynomial, double x);

/// A proven lower bound on a polynomial over all x; -inf when it has none (the degree is odd, or the
/// leading coefficient negative). Within 1e-9 of the minimum, relative to the size of the terms there.
///
/// By subdivision of the interval that contains all critical points, with the mean value theorem on
/// each part; the rounding of the evaluations is subtracted.
[[nodiscard]] double lower_bound(const Polynomial& polynomial);

/// dX = b(X) dt + sqrt(variance) dW in one dimension, with a polynomial drift b. The contraction
/// constant is the lower bound of -b', so it is proven: -1 for the double well b = x - x^3. None is
/// given where -b' has no lower bound.
///
/// Throws   InvalidArgument if a coefficient is not finite, there is none, or the variance is not
///          positive.
[[nodiscard]] Diffusion polynomial_diffusion(const Polynomial& drift, double variance);

/// Drift -f' of a polynomial potential f. Throws as polynomial_diffusion.
[[nodiscard]] Diffusion polynomial_potential(const Polynomial& potential, double variance);

/// f(x) = x^4/4 - x^2/2 - shift x - slope x^2/2, the double well of Spec §12.3:
/// b(x) = x - x^3 + shift + slope x.
[[nodiscard]] Diffusion double_well(double variance, double shift = 0.0, double slope = 0.0);

}  // namespace sfumato
