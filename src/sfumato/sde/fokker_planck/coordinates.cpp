#include "sfumato/sde/fokker_planck/coordinates.hpp"

#include <Eigen/Cholesky>
#include <Eigen/LU>
#include <algorithm>
#include <cmath>

#include "sfumato/core/check.hpp"
#include "sfumato/math/symmetric_eigen.hpp"

namespace sfumato {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;

bool is_diagonal_or_state_dependent(const Diffusion& diffusion) {
  const Covariance* constant = constant_noise(diffusion);
  return constant == nullptr || is_diagonal(*constant);
}

bool is_identity(const LinearMap& map) { return map.forward.isIdentity(0.0); }

}  // namespace

LinearMap diagonalising_map(const Diffusion& p, const Diffusion& q) {
  require_size("q", q.dimension, p.dimension);
  const MatrixXd identity = MatrixXd::Identity(p.dimension, p.dimension);
  if (is_diagonal_or_state_dependent(p) && is_diagonal_or_state_dependent(q)) {
    return {identity, identity};
  }
  const Covariance* p_noise = constant_noise(p);
  const Covariance* q_noise = constant_noise(q);
  if (p_noise == nullptr || q_noise == nullptr) {
    throw InvalidArgument(
        "one Sigma is constant and not diagonal, the other depends on the state",
        "No linear coordinates make both diagonal: use simulation, or a diagonal Sigma");
  }
  if (!has_full_rank(dense(*p_noise))) {
    throw InvalidArgument("Sigma is singular",
                          "A Fokker-Planck grid needs noise in every direction; add a little");
  }
  // Sigma = L L^T, then the eigenvectors of L^{-1} Sigma' L^{-T}.
  const MatrixXd root = dense(*p_noise).llt().matrixL();
  const MatrixXd half = root.triangularView<Eigen::Lower>().solve(dense(*q_noise));
  MatrixXd ratio = root.triangularView<Eigen::Lower>().solve(half.transpose());
  ratio = 0.5 * (ratio + MatrixXd(ratio.transpose()));
  const SymmetricEigen eigen(ratio);
  const MatrixXd backward = root * eigen.eigenvectors();
  return {backward.inverse(), backward};
}

Diffusion mapped(const Diffusion& diffusion, const LinearMap& map) {
  if (is_identity(map)) return diffusion;
  const Field drift = [original = diffusion.drift, map](double time, const ConstPoints& at,
                                                        MutablePoints out) {
    const Points before = (at.matrix() * map.backward.transpose()).array();
    Points moved(at.rows(), at.cols());
    original(time, before, moved);
    out = (moved.matrix() * map.forward.transpose()).array();
  };
  const Covariance* constant = constant_noise(diffusion);
  if (constant == nullptr) {
    throw InvalidArgument("a state-dependent Sigma cannot be moved to other coordinates",
                          "Only constant noise can be diagonalised");
  }
  const MatrixXd noise = map.forward * dense(*constant) * map.forward.transpose();
  return {
      diffusion.dimension, drift, Covariance(Diagonal{noise.diagonal()}), {}, diffusion.autonomous};
}

GaussianDistribution mapped(const GaussianDistribution& distribution, const LinearMap& map) {
  if (is_identity(map)) return distribution;
  return {map.forward * distribution.mean,
          Dense{map.forward * dense(distribution.covariance) * map.forward.transpose()}};
}

std::vector<Interval> mapped(const std::vector<Interval>& box, const LinearMap& map) {
  if (is_identity(map) || box.empty()) return box;
  std::vector<Interval> image;
  for (Index k = 0; k < map.forward.rows(); ++k) {
    Interval side{0.0, 0.0};
    for (Index j = 0; j < map.forward.cols(); ++j) {
      const Interval& from = box[static_cast<std::size_t>(j)];
      const double a = map.forward(k, j) * from.lower;
      const double b = map.forward(k, j) * from.upper;
      side.lower += std::min(a, b);
      side.upper += std::max(a, b);
    }
    image.push_back(side);
  }
  return image;
}

}  // namespace sfumato
