#pragma once

#include <optional>

#include "sfumato/fit/fit_answer.hpp"
#include "sfumato/report/figure.hpp"

namespace sfumato {

/// What the fit would explain at other epsilons, the one that was taken marked: from public quantities and the released accuracy, so that it costs nothing.
/// None where several fits were made, or the prediction is of no use.
[[nodiscard]] std::optional<Figure> by_epsilon_figure(const FitAnswer& answer);

}  // namespace sfumato
