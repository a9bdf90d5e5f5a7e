#include "golden/registry.hpp"

#include <cmath>

#include "sfumato/core/error.hpp"
#include "sfumato/sde/problem/quadratic.hpp"

namespace sfumato::apps {

using Eigen::Index;

Registry library_functions() {
  Registry registry;
  register_gaussian(registry);
  register_conversions(registry);
  register_quadratic(registry);
  register_bounds(registry);
  register_chain(registry);
  register_design(registry);
  register_minibatch(registry);
  register_audit(registry);
  register_particles(registry);
  register_fokker_planck(registry);
  register_accounting(registry);
  register_training(registry);
  register_guarantees(registry);
  register_unequal(registry);
  return registry;
}

Eigen::VectorXd vector_from(const Json& json) {
  Eigen::VectorXd vector(static_cast<Index>(json.size()));
  for (std::size_t i = 0; i < json.size(); ++i) {
    vector(static_cast<Index>(i)) = json.at(i).get<double>();
  }
  return vector;
}

Eigen::MatrixXd matrix_from(const Json& json) {
  const std::size_t columns = json.empty() ? 0 : json.at(0).size();
  Eigen::MatrixXd matrix(static_cast<Index>(json.size()), static_cast<Index>(columns));
  for (std::size_t i = 0; i < json.size(); ++i) {
    if (json.at(i).size() != columns) {
      throw InvalidArgument("a matrix has rows of different lengths", "Check the reference values");
    }
    matrix.row(static_cast<Index>(i)) = vector_from(json.at(i)).transpose();
  }
  return matrix;
}

Json json_from(double value) {
  if (std::isinf(value)) return value > 0.0 ? "inf" : "-inf";
  return value;
}

Json json_from(const Eigen::VectorXd& vector) {
  Json json = Json::array();
  for (const double value : vector) json.push_back(json_from(value));
  return json;
}

Json json_from(const Eigen::MatrixXd& matrix) {
  Json json = Json::array();
  for (Index i = 0; i < matrix.rows(); ++i) {
    json.push_back(json_from(Eigen::VectorXd(matrix.row(i))));
  }
  return json;
}

Covariance covariance_from(const char* name, const Json& json) {
  return require_covariance(name, Dense{matrix_from(json)});
}

OuProcess process_from(const Json& side) {
  const QuadraticLoss loss =
      quadratic_from_point(matrix_from(side.at("A")), vector_from(side.at("xstar")));
  return {loss.curvature, loss.pull, covariance_from("Sigma", side.at("Sigma"))};
}

GaussianDistribution start_from(const Json& side) {
  return {vector_from(side.at("m0")), covariance_from("V0", side.at("V0"))};
}

WhitenedPair pair_from(const Json& inputs) {
  return whiten(vector_from(inputs.at("mean_p")),
                require_covariance("cov_p", Dense{matrix_from(inputs.at("cov_p"))}),
                vector_from(inputs.at("mean_q")),
                require_covariance("cov_q", Dense{matrix_from(inputs.at("cov_q"))}));
}

}  // namespace sfumato::apps
