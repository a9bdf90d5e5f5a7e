#pragma once

#include <Eigen/Core>
#include <Eigen/QR>
#include <cstdint>
#include <random>

#include "sfumato/math/covariance.hpp"
#include "sfumato/sde/ou_distribution.hpp"

namespace sfumato::testing {

/// Random processes and tables for property tests; one seed per case, printed on failure.
class RandomProblem {
 public:
  explicit RandomProblem(std::uint64_t seed) : engine_(seed) {}

  int integer(int low, int high) { return std::uniform_int_distribution<int>(low, high)(engine_); }
  double uniform(double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(engine_);
  }
  double log_uniform(double low, double high) {
    return std::exp(uniform(std::log(low), std::log(high)));
  }
  double normal() { return normal_(engine_); }
  Eigen::VectorXd vector(Eigen::Index d) {
    return Eigen::VectorXd::NullaryExpr(d, [this](Eigen::Index) { return normal(); });
  }
  Eigen::MatrixXd matrix(Eigen::Index rows, Eigen::Index cols) {
    return Eigen::MatrixXd::NullaryExpr(rows, cols,
                                        [this](Eigen::Index, Eigen::Index) { return normal(); });
  }
  Eigen::MatrixXd rotation(Eigen::Index d) {
    return Eigen::HouseholderQR<Eigen::MatrixXd>(matrix(d, d)).householderQ();
  }

  enum class Shape { definite, singular, indefinite };

  /// A symmetric matrix with eigenvalues of size 0.1 to 10, one in three times diagonal.
  Eigen::MatrixXd curvature(Eigen::Index d, Shape shape) {
    Eigen::VectorXd values(d);
    for (double& value : values) value = log_uniform(0.1, 10.0);
    if (shape == Shape::singular) values(integer(0, static_cast<int>(d) - 1)) = 0.0;
    if (shape == Shape::indefinite) values(integer(0, static_cast<int>(d) - 1)) *= -0.2;
    if (integer(0, 2) == 0) return values.asDiagonal();
    const Eigen::MatrixXd q = rotation(d);
    const Eigen::MatrixXd a = q * values.asDiagonal() * q.transpose();
    return 0.5 * (a + a.transpose());
  }

  Covariance covariance(Eigen::Index d) {
    const double scale = log_uniform(0.1, 10.0);
    switch (integer(0, 3)) {
      case 0: return Isotropic{scale, d};
      case 1: return Diagonal{scale * vector(d).cwiseAbs2()};
      case 2: return Factored{scale * vector(d).cwiseAbs2(), matrix(d, 1)};
      default: {
        const Eigen::MatrixXd root = matrix(d, d);
        return Dense{scale * root * root.transpose()};
      }
    }
  }

  GaussianDistribution start(Eigen::Index d) {
    if (integer(0, 1) == 0) return point_distribution(vector(d));
    return {vector(d), covariance(d)};
  }

  OuProcess process(Eigen::Index d, Shape shape) {
    const Eigen::MatrixXd a = curvature(d, shape);
    return {a, vector(d), covariance(d)};
  }

 private:
  std::mt19937_64 engine_;
  std::normal_distribution<double> normal_;
};

}  // namespace sfumato::testing
