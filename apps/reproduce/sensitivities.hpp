#pragma once

#include <Eigen/Core>
#include <array>
#include <string>

#include "sfumato/design/design.hpp"

namespace sfumato::apps {

/// The paper's two settings of S, the absolute differences of the gradients along two axes.
[[nodiscard]] std::array<Eigen::Vector2d, 2> paper_sensitivities();

/// "(10, 1)": a point of the plane as the paper writes it.
[[nodiscard]] std::string point_text(const Eigen::Vector2d& point);

/// The diagonal noise that minimises  sum_i S_i^2 / Sigma_ii  for the given trace (Spec §13.2).
[[nodiscard]] Design best_noise(const Eigen::Vector2d& sensitivities, double trace);

}  // namespace sfumato::apps
