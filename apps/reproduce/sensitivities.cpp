#include "reproduce/sensitivities.hpp"

#include <fmt/format.h>

#include "sfumato/design/average_design.hpp"
#include "sfumato/design/differences.hpp"

namespace sfumato::apps {

std::array<Eigen::Vector2d, 2> paper_sensitivities() {
  return {Eigen::Vector2d(10.0, 10.0), Eigen::Vector2d(10.0, 1.0)};
}

std::string point_text(const Eigen::Vector2d& point) {
  return fmt::format("({:.4g}, {:.4g})", point(0), point(1));
}

Design best_noise(const Eigen::Vector2d& sensitivities, double trace) {
  return average_design(second_moments_of_box(sensitivities),
                        {.budget = trace_budget(2, trace), .form = DesignForm::diagonal});
}

}  // namespace sfumato::apps
