#pragma once

#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <Eigen/QR>
#include <cmath>
#include <cstdint>
#include <random>
#include <string>

#include "sfumato/math/whitened_pair.hpp"

/// Seeded random inputs for property tests. A failing test prints `seed` and the case number.
namespace sfumato::testing {

class RandomPairs {
 public:
  explicit RandomPairs(std::uint64_t seed) : engine_(seed) {}

  double uniform(double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(engine_);
  }
  double normal() { return std::normal_distribution<double>()(engine_); }
  double log_uniform(double low, double high) {
    return std::exp(uniform(std::log(low), std::log(high)));
  }
  int integer(int low, int high) { return std::uniform_int_distribution<int>(low, high)(engine_); }

  Eigen::VectorXd vector(Eigen::Index d) {
    return Eigen::VectorXd::NullaryExpr(d, [this](Eigen::Index) { return normal(); });
  }
  Eigen::MatrixXd matrix(Eigen::Index rows, Eigen::Index cols) {
    return Eigen::MatrixXd::NullaryExpr(rows, cols,
                                        [this](Eigen::Index, Eigen::Index) { return normal(); });
  }
  /// Positive definite, condition number up to about 1e4.
  Eigen::MatrixXd spd(Eigen::Index d) {
    const Eigen::MatrixXd q = Eigen::HouseholderQR<Eigen::MatrixXd>(matrix(d, d)).householderQ();
    Eigen::VectorXd eigenvalues(d);
    for (double& value : eigenvalues) value = log_uniform(1e-2, 1e2);
    const Eigen::MatrixXd m = q * eigenvalues.asDiagonal() * q.transpose();
    return 0.5 * (m + m.transpose());
  }

  /// N(0, I) against N(c, diag(lam)) from the regimes that have broken implementations before: nearly
  /// equal variances (1 +- 1e-6 and below), tiny and large shifts, wide and narrow, mixed.
  WhitenedPair pair(Eigen::Index d) {
    WhitenedPair p{false, false, Eigen::ArrayXd(d), Eigen::ArrayXd(d), Eigen::ArrayXd(d)};
    const int regime = integer(0, 5);
    const double spread = log_uniform(1e-4, 1.0);
    const double distance = log_uniform(1e-4, 3.0);
    for (Eigen::Index i = 0; i < d; ++i) {
      double log_ratio = spread * normal();
      double shift = distance * normal();
      if (regime == 0) log_ratio = (integer(0, 1) == 0 ? 1e-6 : -1e-6);
      if (regime == 1) log_ratio = uniform(-1e-10, 1e-10);
      if (regime == 2) shift = (i == 0 ? 30.0 : 0.1);
      if (regime == 3) log_ratio = std::abs(log_ratio);   // Q wider: L bounded above
      if (regime == 4) log_ratio = -std::abs(log_ratio);  // Q narrower: L bounded below
      p.excess(i) = std::expm1(log_ratio);
      p.ratio(i) = std::exp(log_ratio);
      p.shift(i) = shift;
    }
    return p;
  }

 private:
  std::mt19937_64 engine_;
};

}  // namespace sfumato::testing
