#pragma once

#include <functional>

namespace sfumato {

/// The smallest value that was found.
struct LeastValue {
  double at;
  double value;
};

/// A small value of a function on [low, high]: the ends, a grid of 9 points, then golden sections
/// around the best of them. For families of bounds that all hold, so that any value found is a
/// bound and only its quality depends on the search. `low == high` evaluates once.
[[nodiscard]] LeastValue minimise(const std::function<double(double)>& function, double low,
                                  double high);

}  // namespace sfumato
