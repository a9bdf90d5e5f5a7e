#include "lab/nn/flatness.hpp"

#include <fmt/format.h>

#include <cmath>

#include "lab/nn/exact_backprop.hpp"
#include "sfumato/random/stream.hpp"

namespace sfumato::lab {
namespace {

using Eigen::Index;
using Eigen::VectorXd;
using Doubles = std::span<const double>;

Eigen::Map<const VectorXd> as_vector(Doubles values) { return {values.data(), std::ssize(values)}; }
Doubles as_span(const VectorXd& values) {
  return {values.data(), static_cast<std::size_t>(values.size())};
}

Claimed<SpectralEstimate> estimate(const SpectralEstimate& value, std::string method) {
  return {value, Claim::estimate, std::move(method)};
}

/// The sides that ReLU units and maxima are on at a point of record space, in one list.
std::vector<std::size_t> sides(ExactBackprop<double>& pass, const Network& network, Doubles point) {
  (void)pass.loss(point.first(network.input().size()), point.last(network.classes()));
  std::vector<std::size_t> result;
  for (std::size_t i = 0; i < network.layers().size(); ++i) {
    const Layer& layer = network.layers()[i].layer;
    if (std::holds_alternative<Relu>(layer)) {
      for (const double value : pass.output(i)) result.push_back(value > 0.0 ? 1 : 0);
    } else if (std::holds_alternative<MaxPool2d>(layer)) {
      result.insert(result.end(), pass.winners(i).begin(), pass.winners(i).end());
    }
  }
  return result;
}

std::uint64_t differences(const std::vector<std::size_t>& a, const std::vector<std::size_t>& b) {
  std::uint64_t count = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i] != b[i]) ++count;
  }
  return count;
}

}  // namespace

Claimed<MonteCarloMean> hessian_trace(const Network& network, Doubles parameters,
                                      std::span<const LabelledRecord> records, LossScale scale,
                                      std::uint64_t probes, std::uint64_t seed) {
  if (probes == 0) throw InvalidArgument("probes = 0", "Use at least one; two for an error");
  const Stream stream(StreamKey(seed, Purpose::simulation));
  std::vector<double> signs(network.parameter_count());
  Moments moments;
  for (std::uint64_t probe = 0; probe < probes; ++probe) {
    stream.fill_uniform(probe, 0, signs);
    for (double& sign : signs) sign = sign < 0.5 ? -1.0 : 1.0;
    const std::vector<double> product = hessian_product(network, parameters, records, scale, signs);
    const double value = as_vector(signs).dot(as_vector(product));
    if (!std::isfinite(value)) {
      throw NumericalFailure("the Hessian is not finite", "Check the parameters and the records");
    }
    moments.add(value);
  }
  return {moments.mean(), Claim::estimate,
          fmt::format("Hutchinson with {} vectors of random signs", probes)};
}

Claimed<SpectralEstimate> largest_hessian_eigenvalue(const Network& network, Doubles parameters,
                                                     std::span<const LabelledRecord> records,
                                                     LossScale scale,
                                                     const LanczosOptions& options) {
  const auto apply = [&](const VectorXd& v) -> VectorXd {
    return as_vector(hessian_product(network, parameters, records, scale, as_span(v)));
  };
  const EigenPairs pairs =
      largest_eigenpairs(static_cast<Index>(network.parameter_count()), apply, options);
  return estimate({pairs.values(0), pairs.residuals(0), pairs.products, pairs.converged},
                  "Lanczos on Hessian products");
}

Claimed<SpectralEstimate> mixed_derivative_norm(const Network& network, Doubles parameters,
                                                Doubles point, RecordMoves moves,
                                                const LanczosOptions& options) {
  const std::size_t free =
      network.input().size() + (moves == RecordMoves::values ? 0 : network.classes());
  const auto apply = [&](const VectorXd& u) -> VectorXd {  // J^T J u
    std::vector<double> direction(u.begin(), u.end());
    direction.resize(network.input().size() + network.classes(), 0.0);
    const std::vector<double> image = mixed_product(network, parameters, point, direction);
    const std::vector<double> back = mixed_transposed_product(network, parameters, point, image);
    return as_vector(Doubles(back).first(free));
  };
  const EigenPairs pairs = largest_eigenpairs(static_cast<Index>(free), apply, options);
  const double square = std::max(0.0, pairs.values(0)), residual = pairs.residuals(0);
  const double norm = std::sqrt(square);
  // |sqrt(a) - sqrt(b)| = |a - b| / (sqrt(a) + sqrt(b)) is at most this.
  const double error = norm > 0.0 ? residual / norm : std::sqrt(residual);
  return estimate({norm, error, pairs.products, pairs.converged},
                  "Lanczos on products with the mixed derivative and its transpose");
}

Claimed<RecordSensitivity> record_sensitivity(const Network& network, Doubles parameters,
                                              const LabelledRecord& record,
                                              const LabelledRecord& other, int points,
                                              const LanczosOptions& options) {
  if (points < 2) {
    throw InvalidArgument(fmt::format("points = {}", points), "Use at least the two ends");
  }
  const std::vector<double> from = record_point(network, record), to = record_point(network, other);
  const RecordMoves moves =
      record.label == other.label ? RecordMoves::values : RecordMoves::values_and_label;
  const VectorXd step = as_vector(to) - as_vector(from);

  RecordSensitivity result{};
  result.distance = step.norm();
  const std::vector<double> gradient = point_gradient(network, parameters, from);
  const std::vector<double> gradient_other = point_gradient(network, parameters, to);
  result.gradient_difference = (as_vector(gradient) - as_vector(gradient_other)).norm();

  ExactBackprop<double> pass(network, parameters);
  std::vector<std::size_t> before;
  double largest_residual = 0.0;
  result.largest_norm = -1.0;
  for (int k = 0; k < points; ++k) {
    const double share = static_cast<double>(k) / (points - 1);
    const VectorXd point = as_vector(from) + share * step;
    const std::vector<std::size_t> now = sides(pass, network, as_span(point));
    if (k > 0) result.switches += differences(before, now);
    before = now;
    const SpectralEstimate norm =
        mixed_derivative_norm(network, parameters, as_span(point), moves, options).value;
    result.norms.push_back(norm.value);
    largest_residual = std::max(largest_residual, norm.residual);
    if (norm.value > result.largest_norm) {
      result.largest_norm = norm.value;
      result.largest_at = share;
    }
  }
  result.bound = result.distance * result.largest_norm;
  // 1e-12: rounding of two gradients, where the bound is tight.
  result.respected = result.gradient_difference <=
                     result.distance * (result.largest_norm + largest_residual) * (1.0 + 1e-12);
  return {result,
          Claim::estimate,
          fmt::format("largest of {} points between the records", points),
          {"the loss has a derivative on the whole segment (no ReLU or maximum changes sides)"}};
}

}  // namespace sfumato::lab
