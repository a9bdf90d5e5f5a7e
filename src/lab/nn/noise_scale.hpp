#pragma once

namespace sfumato::lab {

/// How the variance of a step's noise follows from the gradient g, for one model and one layer:
///   gradient_factor max(|g|, floor) + square_factor g^2 + constant + fixed_factor fixed
struct NoiseScale {
  float gradient_factor = 0, floor = 0, square_factor = 0, constant = 0, fixed_factor = 0;
};

}  // namespace sfumato::lab
