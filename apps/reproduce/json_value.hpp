#pragma once

#include <cmath>
#include <nlohmann/json.hpp>
#include <vector>

namespace sfumato::apps {

/// A number as the files of this project write it: infinities are the strings "inf" and "-inf", and what
/// is not a number is null.
[[nodiscard]] inline nlohmann::ordered_json json_number(double value) {
  if (std::isnan(value)) return nullptr;
  if (std::isinf(value)) return value > 0.0 ? "inf" : "-inf";
  return value;
}

[[nodiscard]] inline nlohmann::ordered_json json_interval(double lower, double upper) {
  return nlohmann::ordered_json::array({json_number(lower), json_number(upper)});
}

}  // namespace sfumato::apps
