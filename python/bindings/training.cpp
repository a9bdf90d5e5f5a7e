#include <nanobind/eigen/dense.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <Eigen/Core>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bindings.hpp"
#include "relation.hpp"
#include "sfumato/core/error.hpp"
#include "sfumato/divergence/step_kl.hpp"
#include "sfumato/fit/sensitivity.hpp"
#include "sfumato/nn/gradient_moments.hpp"
#include "sfumato/nn/private_noise.hpp"
#include "sfumato/privacy/accounting/clipping.hpp"
#include "sfumato/study/input_metric.hpp"
#include "watched.hpp"

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

/// Deviations of the noise of layers that are clipped one by one, least in sum for what they reveal together.
std::vector<double> deviations_of_layers(const std::vector<double>& clips,
                                         const std::vector<double>& sizes,
                                         double noise_multiplier) {
  return layer_split(clips, sizes, std::vector<double>(clips.size(), 1.0), 1.0 / noise_multiplier)
      .deviations;
}

/// The root of the metric `input`, and how many directions of the inputs it knows; with noise of the operating system, or of a seed.
nb::tuple release_inputs(
    const nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>& inputs,
    double bound, double mu, double floor, const std::string& adjacency, double records,
    std::optional<std::uint64_t> seed, nb::handle progress) {
  const NeighbouringRelation relation = relation_of(adjacency);
  InputMetric metric;
  watched(progress, [&](Observer& observer) {
    ReleaseBits bits(seed ? ReleaseKey::from_seed(*seed) : ReleaseKey::from_system(),
                     kMomentStream);
    metric = input_metric_of(
        Eigen::Map<const RowMajor>(inputs.data(), static_cast<Eigen::Index>(inputs.shape(0)),
                                   static_cast<Eigen::Index>(inputs.shape(1))),
        bound, mu, floor, relation, records, NoiseMode::grid, bits, observer);
  });
  return nb::make_tuple(metric.root, metric.effective_dimension);
}

/// The noise multiplier that an accountant of that adjacency is told for it; rounded down.
double multiplier_of_moments(double mu, const std::string& adjacency) {
  return multiplier_of_mu(mu, relation_of(adjacency));
}

void bind_moments(nb::module_& module) {
  nb::class_<GradientMoments>(module, "GradientMoments")
      .def(nb::init<std::size_t>(), nb::arg("size"))
      .def(
          "add",
          [](GradientMoments& moments, const Vector& gradient, const Vector& noise_variances) {
            moments.add(span_of(gradient), span_of(noise_variances));
          },
          nb::arg("gradient"), nb::arg("noise_variances"))
      .def("shape",
           [](const GradientMoments& moments) {
             const std::vector<float> shape = moments.shape();
             return Eigen::VectorXf(Eigen::Map<const Eigen::VectorXf>(
                 shape.data(), static_cast<Eigen::Index>(shape.size())));
           })
      .def("state",
           [](const GradientMoments& moments) {
             const std::vector<double> state = moments.state();
             return Eigen::VectorXd(Eigen::Map<const Eigen::VectorXd>(
                 state.data(), static_cast<Eigen::Index>(state.size())));
           })
      .def(
          "restore",
          [](GradientMoments& moments, const Vector& state) { moments.restore(span_of(state)); },
          nb::arg("state"));
  module.def("warm_up_steps", &warm_up_steps, nb::arg("steps"));
}

}  // namespace

void bind_training(nb::module_& module) {
  module.def("step_kl", &step_kl, nb::arg("learning_rate"), nb::arg("gradient"),
             nb::arg("gradient_prime"), nb::arg("variances"), nb::arg("variances_prime"));
  module.def("multiplier_of_layers", &multiplier_of_layers, nb::arg("clips"),
             nb::arg("noise_stds"));
  module.def("deviations_of_layers", &deviations_of_layers, nb::arg("clips"), nb::arg("sizes"),
             nb::arg("noise_multiplier"));
  module.def("release_inputs", &release_inputs, nb::arg("inputs"), nb::arg("bound"), nb::arg("mu"),
             nb::arg("floor"), nb::arg("adjacency"), nb::arg("records"), nb::arg("seed").none(),
             nb::arg("progress").none());
  module.def("multiplier_of_moments", &multiplier_of_moments, nb::arg("mu"), nb::arg("adjacency"));
  bind_moments(module);
  module.attr("GRADIENT_SCALED_WARNING") = kGradientScaledWarning;
}

}  // namespace sfumato::python
