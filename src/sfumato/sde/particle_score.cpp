#include "sfumato/sde/particle_score.hpp"

#include <fmt/format.h>

#include <Eigen/Cholesky>
#include <cmath>
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
  centres_ = particles + step * drift;
  for (const MatrixXd& sigma : covariances(diffusion, time, particles)) {
    require_size("the noise", sigma.rows(), d, where);
    const Eigen::LLT<MatrixXd> cholesky(step * sigma);
    if (cholesky.info() != Eigen::Success) {
      throw InvalidArgument("the noise is singular, the particles' distribution has no density",
                            "Add noise in every direction", where);
    }
    whitening_.emplace_back(cholesky.matrixL().solve(MatrixXd::Identity(d, d)));
    log_scale_.push_back(whitening_.back().diagonal().array().log().sum() -
                         0.5 * static_cast<double>(d) * std::log(2.0 * std::numbers::pi));
  }
  if (whitening_.size() == 1) {
    centres_ = (centres_.matrix() * whitening_.front().transpose()).eval().array();
  }
}

ParticleScore::Value ParticleScore::at_equal_noise(const VectorXd& point) const {
  const MatrixXd& whitening = whitening_.front();
  const VectorXd y = whitening * point;
  Eigen::ArrayXd exponents = Eigen::ArrayXd::Zero(centres_.rows());
  for (Index i = 0; i < y.size(); ++i) exponents -= 0.5 * (centres_.col(i) - y(i)).square();
  const double most = exponents.maxCoeff();
  const Eigen::ArrayXd weights = (exponents - most).exp();
  const double total = weights.sum();
  VectorXd sum(y.size());
  for (Index i = 0; i < y.size(); ++i) sum(i) = (weights * (centres_.col(i) - y(i))).sum();
  const double particles = static_cast<double>(centres_.rows());
  return {log_scale_.front() + most + std::log(total / particles),
          whitening.transpose() * sum / total};
}

ParticleScore::Value ParticleScore::at(const VectorXd& point) const {
  require_size("point", point.size(), centres_.cols());
  // Weights are normalised in log space: those of far points would all underflow.
  if (whitening_.size() == 1) return at_equal_noise(point);
  const Index particles = centres_.rows();
  MatrixXd white(point.size(), particles);
  Eigen::ArrayXd exponents(particles);
  for (Index j = 0; j < particles; ++j) {
    const auto k = static_cast<std::size_t>(j);
    white.col(j) = whitening_[k] * (centres_.row(j).matrix().transpose() - point);
    exponents(j) = log_scale_[k] - 0.5 * white.col(j).squaredNorm();
  }
  const double most = exponents.maxCoeff();
  const Eigen::ArrayXd weights = (exponents - most).exp();
  VectorXd sum = VectorXd::Zero(point.size());
  for (Index j = 0; j < particles; ++j) {
    sum += weights(j) * (whitening_[static_cast<std::size_t>(j)].transpose() * white.col(j));
  }
  const double total = weights.sum();
  return {most + std::log(total / static_cast<double>(particles)), sum / total};
}

void ParticleScore::scores(const ConstPoints& points, MutablePoints out) const {
  for (Index j = 0; j < points.rows(); ++j) {
    out.row(j) = at(points.row(j).matrix().transpose()).score.transpose().array();
  }
}

}  // namespace sfumato
