#include "sfumato/sde/particle_score.hpp"

#include <fmt/format.h>

#include <Eigen/Cholesky>
#include <cmath>
#include <limits>
#include <numbers>
#include <variant>

#include "sfumato/core/check.hpp"

namespace sfumato {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

/// Sigma at each particle, or once when it is constant.
std::vector<MatrixXd> covariances(const Diffusion& diffusion, double time, const ConstPoints& at) {
  std::vector<MatrixXd> result;
  if (const Covariance* constant = constant_noise(diffusion)) {
    result.push_back(dense(*constant));
  } else if (const auto* diagonal = std::get_if<DiagonalNoise>(&diffusion.noise)) {
    Points variances(at.rows(), at.cols());
    diagonal->variances(time, at, variances);
    for (Index j = 0; j < at.rows(); ++j) {
      result.emplace_back(variances.row(j).matrix().transpose().asDiagonal());
    }
  } else {
    const auto& noise = std::get<MatrixNoise>(diffusion.noise);
    for (Index j = 0; j < at.rows(); ++j) {
      result.push_back(noise.covariance(time, at.row(j).matrix().transpose()));
    }
  }
  return result;
}

}  // namespace

ParticleScore::ParticleScore(const Diffusion& diffusion, double time, const ConstPoints& particles,
                             double step) {
  const Where where = Where::here();
  const Index d = diffusion.dimension;
  if (d > kParticleScoreDimension) {
    throw InvalidArgument(
        fmt::format("a score from particles in {} dimensions: its error grows like "
                    "step^-{} / particles",
                    d, 0.5 * static_cast<double>(d + 2)),
        fmt::format("Use it up to {} dimensions; with equal covariances no score is needed",
                    kParticleScoreDimension),
        where);
  }
  require_positive("step", step, where);
  require_size("the particles' coordinates", particles.cols(), d, where);
  if (particles.rows() == 0) throw InvalidArgument("no particles", "Pass some", where);

  Points drift(particles.rows(), d);
  diffusion.drift(time, particles, drift);
  centres_ = (particles + step * drift).matrix().transpose();
  for (const MatrixXd& sigma : covariances(diffusion, time, particles)) {
    require_size("the noise", sigma.rows(), d, where);
    const Eigen::LLT<MatrixXd> cholesky(step * sigma);
    if (cholesky.info() != Eigen::Success) {
      throw InvalidArgument("the noise is singular, the particles' law has no density",
                            "Add noise in every direction", where);
    }
    whitening_.push_back(cholesky.matrixL().solve(MatrixXd::Identity(d, d)));
    log_scale_.push_back(whitening_.back().diagonal().array().log().sum() -
                         0.5 * static_cast<double>(d) * std::log(2.0 * std::numbers::pi));
  }
}

ParticleScore::Value ParticleScore::at(const VectorXd& point) const {
  require_size("point", point.size(), centres_.rows());
  const Index particles = centres_.cols(), d = centres_.rows();
  const bool constant = whitening_.size() == 1;
  const auto index = [&](Index j) { return constant ? 0 : static_cast<std::size_t>(j); };
  VectorXd exponents(particles);
  Eigen::Matrix<double, Eigen::Dynamic, 1, 0, kParticleScoreDimension, 1> gap(d), white(d), sum(d);
  for (Index j = 0; j < particles; ++j) {
    gap = point - centres_.col(j);
    white.noalias() = whitening_[index(j)].triangularView<Eigen::Lower>() * gap;
    exponents(j) = log_scale_[index(j)] - 0.5 * white.squaredNorm();
  }
  // Normalised in log space: the weights of far points would all underflow.
  const double most = exponents.maxCoeff();
  double total = 0.0;
  sum.setZero();
  for (Index j = 0; j < particles; ++j) {
    const double below = exponents(j) - most;
    if (below < -45.0) continue;  // e^-45 = 3e-20 of the largest weight
    const double weight = std::exp(below);
    total += weight;
    gap = point - centres_.col(j);
    if (constant) {
      sum -= weight * gap;
    } else {
      white.noalias() = whitening_[index(j)].triangularView<Eigen::Lower>() * gap;
      sum.noalias() -= weight * (whitening_[index(j)].transpose() * white);
    }
  }
  VectorXd score = sum / total;
  if (constant) score = whitening_[0].transpose() * (whitening_[0] * score).eval();
  return {most + std::log(total) - std::log(static_cast<double>(particles)), score};
}

void ParticleScore::scores(const ConstPoints& points, MutablePoints out) const {
  for (Index j = 0; j < points.rows(); ++j) {
    out.row(j) = at(points.row(j).matrix().transpose()).score.transpose().array();
  }
}

}  // namespace sfumato
