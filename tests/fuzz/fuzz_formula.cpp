#include <array>
#include <cmath>

#include "fuzz_main.hpp"
#include "sfumato/math/expression.hpp"

using namespace sfumato;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return fuzz(data, size, [](std::string_view text) {
    const Expression formula = Expression::parse(text, {"x", "y", "t"});
    const std::array point{0.3, -0.7, 2.0};
    const double value = formula.at(point);
    // Twice the same program at the same point, once as an array.
    const Eigen::ArrayXXd at = Eigen::Map<const Eigen::Array3d>(point.data()).transpose();
    Eigen::ArrayXd out(1);
    formula.evaluate(at, {}, out);
    if (out(0) != value && !(std::isnan(out(0)) && std::isnan(value))) __builtin_trap();
    (void)formula.derivative(0).derivative(1).at(point);
  });
}
