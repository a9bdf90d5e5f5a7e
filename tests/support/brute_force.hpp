// Whole matrices of derivatives of tiny networks, by differences of gradients.
#pragma once

#include <Eigen/Core>
#include <vector>

#include "lab/nn/exact_gradient.hpp"

namespace sfumato::testing {

using namespace lab;

inline Eigen::VectorXd as_vector(const std::vector<double>& values) {
  return Eigen::Map<const Eigen::VectorXd>(values.data(), std::ssize(values));
}

/// Column i: how f moves with entry i of `at`; central differences, off by about 1e-9.
template <class F>
Eigen::MatrixXd jacobian(const std::vector<double>& at, std::size_t entries, F f) {
  constexpr double kStep = 1e-5;
  Eigen::MatrixXd result;
  for (std::size_t i = 0; i < entries; ++i) {
    std::vector<double> up = at, down = at;
    up[i] += kStep;
    down[i] -= kStep;
    const Eigen::VectorXd column = (as_vector(f(up)) - as_vector(f(down))) / (2 * kStep);
    if (i == 0) result.resize(column.size(), static_cast<Eigen::Index>(entries));
    result.col(static_cast<Eigen::Index>(i)) = column;
  }
  return result;
}

inline Eigen::MatrixXd hessian(const Network& network, const std::vector<double>& parameters,
                               std::span<const LabelledRecord> records, LossScale scale) {
  return jacobian(parameters, parameters.size(), [&](const std::vector<double>& at) {
    return batch_gradient(network, at, records, scale).gradient;
  });
}

/// Parameters x the first `entries` coordinates of record space.
inline Eigen::MatrixXd mixed_derivative(const Network& network,
                                        const std::vector<double>& parameters,
                                        const std::vector<double>& point, std::size_t entries) {
  return jacobian(point, entries, [&](const std::vector<double>& at) {
    return point_gradient(network, parameters, at);
  });
}

}  // namespace sfumato::testing
