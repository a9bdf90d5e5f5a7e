#include <fmt/format.h>
#include <nanobind/eigen/dense.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <Eigen/Core>
#include <cmath>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bindings.hpp"
#include "lab/nn/gradient_moments.hpp"
#include "lab/nn/private_metric.hpp"
#include "lab/study/input_metric.hpp"
#include "relation.hpp"
#include "sfumato/account/accountant/clipping.hpp"
#include "sfumato/core/error.hpp"
#include "sfumato/divergence/step_kl.hpp"
#include "sfumato/fit/sensitivity.hpp"
#include "sfumato/random/release_bits.hpp"
#include "watched.hpp"

namespace sfumato::python {

using namespace lab;
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
        {bound, mu, records}, floor, {relation, NoiseMode::grid, bits}, observer);
  });
  return nb::make_tuple(metric.root, metric.effective_dimension);
}

/// The noise multiplier that an accountant of that adjacency is told for it; rounded down.
double multiplier_of_moments(double mu, const std::string& adjacency) {
  return multiplier_of_mu(mu, relation_of(adjacency));
}

/// Bits for one call: a new key of the operating system each time, so that no state can be copied, forked or drawn from twice; or a stream of a seed.
ReleaseBits bits_of(std::optional<std::uint64_t> seed, std::uint64_t stream) {
  return seed ? ReleaseBits(ReleaseKey::from_seed(*seed), stream)
              : ReleaseBits(ReleaseKey::from_system());
}

/// Standard normals in double precision.
Eigen::VectorXd release_normals(std::size_t count, std::optional<std::uint64_t> seed,
                                std::uint64_t stream) {
  nb::gil_scoped_release release;
  Eigen::VectorXd values(static_cast<Eigen::Index>(count));
  ReleaseBits bits = bits_of(seed, stream);
  fill_normal(bits, {values.data(), count});
  return values;
}

/// Which of `count` records a Poisson batch has: each with the probability floor(rate 2^64) / 2^64, never above the rate.
Eigen::Matrix<std::int64_t, Eigen::Dynamic, 1> poisson_batch(std::int64_t count, double rate,
                                                             std::optional<std::uint64_t> seed,
                                                             std::uint64_t stream) {
  if (!(rate >= 0.0 && rate <= 1.0)) {
    throw InvalidArgument(fmt::format("rate = {} is not in [0, 1]", rate), "Pass a probability",
                          Where::key("rate"));
  }
  nb::gil_scoped_release release;
  std::vector<std::int64_t> chosen;
  ReleaseBits bits = bits_of(seed, stream);
  // A product with a power of 2 is exact, and the conversion drops the fraction.
  const auto threshold = static_cast<std::uint64_t>(rate < 1.0 ? std::ldexp(rate, 64) : 0.0);
  for (std::int64_t i = 0; i < count; ++i) {
    if (rate == 1.0 || bits.word() < threshold) chosen.push_back(i);
  }
  return Eigen::Map<const Eigen::Matrix<std::int64_t, Eigen::Dynamic, 1>>(
      chosen.data(), static_cast<Eigen::Index>(chosen.size()));
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
  module.def("release_normals", &release_normals, nb::arg("count"), nb::arg("seed").none(),
             nb::arg("stream"));
  module.def("poisson_batch", &poisson_batch, nb::arg("count"), nb::arg("rate"),
             nb::arg("seed").none(), nb::arg("stream"));
  bind_moments(module);
  module.attr("GRADIENT_SCALED_WARNING") = kGradientScaledWarning;
}

}  // namespace sfumato::python
