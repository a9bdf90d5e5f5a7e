#include <nanobind/ndarray.h>
#include <nanobind/stl/vector.h>

#include <span>
#include <vector>

#include "bindings.hpp"
#include "sfumato/core/error.hpp"
#include "sfumato/divergence/step_kl.hpp"
#include "sfumato/privacy/accounting/clipping.hpp"

namespace sfumato::python {
namespace {

using Vector = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

std::span<const double> span_of(const Vector& vector) { return {vector.data(), vector.size()}; }

/// Nats that one step reveals, and how many coordinates make it infinite.
nb::tuple step_kl(double learning_rate, const Vector& gradient, const Vector& gradient_prime,
                  const Vector& variances, const Vector& variances_prime) {
  StepKl found;
  {
    nb::gil_scoped_release release;
    found = step_kl_by_coordinate(learning_rate, span_of(gradient), span_of(gradient_prime),
                                  span_of(variances), span_of(variances_prime));
  }
  return nb::make_tuple(found.nats, found.infinite);
}

/// The noise multiplier of layers that are clipped and noised each by itself; rounded down.
double multiplier_of_layers(const std::vector<double>& clips,
                            const std::vector<double>& noise_stds) {
  return multiplier_of(contribution_of_layers(clips, noise_stds));
}

}  // namespace

void bind_training(nb::module_& module) {
  module.def("step_kl", &step_kl, nb::arg("learning_rate"), nb::arg("gradient"),
             nb::arg("gradient_prime"), nb::arg("variances"), nb::arg("variances_prime"));
  module.def("multiplier_of_layers", &multiplier_of_layers, nb::arg("clips"),
             nb::arg("noise_stds"));
  module.attr("GRADIENT_SCALED_WARNING") = kGradientScaledWarning;
}

}  // namespace sfumato::python
