#pragma once

#include <optional>

namespace sfumato {

/// What rows that the fit did not see say about it; a release of its own, which reads those rows alone.
struct HeldOut {
  double rows;    ///< that there are, with noise
  double value;   ///< R^2, or the share of right classes
  double error;   ///< standard error, noise and sampling
  bool resolved;  ///< false: the noise hides it
  std::optional<double> residual_variance =
      {};  ///< of a quantity, from above: 98 % of the noise; none where noise hides the number of rows
};

}  // namespace sfumato
