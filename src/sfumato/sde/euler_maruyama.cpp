#include "sfumato/sde/euler_maruyama.hpp"

#include <fmt/format.h>

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <limits>
#include <variant>

#include "sfumato/core/check.hpp"
#include "sfumato/math/symmetric_eigen.hpp"
#include "sfumato/sde/point_kernels.hpp"

namespace sfumato {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

std::string text_of(const VectorXd& x) {
  std::string text = "(";
  for (Index i = 0; i < x.size(); ++i) text += fmt::format("{}{:.6g}", i == 0 ? "" : ", ", x(i));
  return text + ")";
}

[[noreturn]] void throw_negative(double variance, double time, const VectorXd& x) {
  throw NumericalFailure(fmt::format("the noise at time {} and x = {} has variance {:.6g}", time,
                                     text_of(x), variance),
                         "Check the noise function: it must be positive semi-definite everywhere",
                         Where::here("simulate"));
}

/// R with R R^T = sigma; NaN where sigma is not finite, so that the path counts as diverged.
MatrixXd root_at(const MatrixXd& sigma, double time, const VectorXd& x) {
  if (!sigma.allFinite()) {
    return MatrixXd::Constant(sigma.rows(), sigma.cols(), std::numeric_limits<double>::quiet_NaN());
  }
  const Eigen::LLT<MatrixXd> cholesky(sigma);
  if (cholesky.info() == Eigen::Success) return cholesky.matrixL();
  const SymmetricEigen eigen(sigma);
  const VectorXd& values = eigen.eigenvalues();
  if (values.minCoeff() < -1e-12 * values.cwiseAbs().maxCoeff()) {
    throw_negative(values.minCoeff(), time, x);
  }
  return eigen.eigenvectors() * values.cwiseMax(0.0).cwiseSqrt().asDiagonal();
}

std::size_t count_of(Index n) { return static_cast<std::size_t>(n); }

}  // namespace

EulerMaruyama::EulerMaruyama(const Diffusion& diffusion, const GaussianDistribution& start,
                             const RandomRun& random)
    : diffusion_(diffusion),
      start_mean_(start.mean),
      start_stream_(StreamKey(random.seed, Purpose::initialisation, {random.run})),
      step_stream_(StreamKey(random.seed, Purpose::simulation, {random.run})) {
  const Where where = Where::here("simulate");
  if (diffusion.dimension < 1) {
    throw InvalidArgument(fmt::format("dimension = {}", diffusion.dimension),
                          "Pass a diffusion of dimension 1 or more", where);
  }
  require_size("start.mean", start.mean.size(), diffusion.dimension, where);
  require_size("start.covariance", sfumato::dimension(start.covariance), diffusion.dimension,
               where);
  if (!start.mean.allFinite()) {
    throw InvalidArgument("start.mean has an entry that is not finite", "Check the start", where);
  }
  start_root_ = root(require_covariance("start.covariance", start.covariance, where));
  if (const Covariance* noise = constant_noise(diffusion)) {
    require_size("noise", sfumato::dimension(*noise), diffusion.dimension, where);
    const Covariance valid = require_covariance("noise", *noise, where);
    if (std::holds_alternative<Isotropic>(valid) || std::holds_alternative<Diagonal>(valid)) {
      deviations_ = diagonal_of(valid).cwiseSqrt();
    } else {
      root_ = root(valid);
    }
  }
}

Index EulerMaruyama::block_size() const {
  // Arrays of 16 kB: twice and four times that were no faster on one and on ten coordinates. The
  // widest vectors make 64 normals at a time.
  const Index rows = 2048 / dimension();
  return std::clamp<Index>(rows / 64 * 64, 64, 512);
}

Index EulerMaruyama::normals_per_step() const {
  return root_.size() != 0 ? root_.cols() : dimension();
}

void EulerMaruyama::start(std::uint64_t first_path, Index count, PathBlock& block) const {
  const Index d = dimension();
  block.first_path = first_path;
  block.x.resize(count, d);
  block.drift.resize(count, d);
  block.next.resize(count, d);
  block.normals.resize(count, normals_per_step());
  block.diverged.clear();
  Points draws(count, start_root_.cols());
  for (Index i = 0; i < draws.cols(); ++i) {
    start_stream_.fill_normal(static_cast<std::uint64_t>(i), first_path,
                              {draws.col(i).data(), count_of(count)});
  }
  linear_map(start_root_, start_mean_, draws, block.x);
}

void EulerMaruyama::evaluate_drift(double time, PathBlock& block) const {
  diffusion_.drift(time, block.x, block.drift);
}

void EulerMaruyama::draw(std::uint64_t number, PathBlock& block) const {
  const auto columns = static_cast<std::uint64_t>(block.normals.cols());
  for (Index i = 0; i < block.normals.cols(); ++i) {
    step_stream_.fill_normal(
        number * columns + static_cast<std::uint64_t>(i), block.first_path,
        std::span<float>(block.normals.col(i).data(), count_of(block.normals.rows())));
  }
}

void EulerMaruyama::fill_noise(double time, PathBlock& block) const {
  const Index rows = block.x.rows();
  block.noise.resize(rows, dimension());
  if (root_.size() != 0) {
    const Points normals = block.normals.cast<double>();
    linear_map(root_, VectorXd::Zero(dimension()), normals, block.noise);
  } else if (const auto* diagonal = std::get_if<DiagonalNoise>(&diffusion_.noise)) {
    diagonal->variances(time, block.x, block.noise);
    if ((block.noise < 0.0).any()) {
      Index row = 0, column = 0;
      const double least = block.noise.minCoeff(&row, &column);
      throw_negative(least, time, block.x.row(row).matrix().transpose());
    }
    block.noise = block.noise.sqrt() * block.normals.cast<double>();
  } else {
    const auto& noise = std::get<MatrixNoise>(diffusion_.noise);
    for (Index j = 0; j < rows; ++j) {
      const VectorXd x = block.x.row(j).matrix().transpose();
      const MatrixXd sigma = noise.covariance(time, x);
      if (sigma.rows() != dimension() || sigma.cols() != dimension()) {
        throw InvalidArgument(
            fmt::format("the noise function returned a {} x {} matrix", sigma.rows(), sigma.cols()),
            fmt::format("Return {0} x {0}", dimension()), Where::here("simulate"));
      }
      const VectorXd z = block.normals.row(j).matrix().transpose().cast<double>();
      block.noise.row(j) = (root_at(sigma, time, x) * z).transpose().array();
    }
  }
}

void EulerMaruyama::advance(double time, double step, double scale, PathBlock& block) const {
  const std::size_t rows = count_of(block.x.rows());
  std::size_t bad = 0;
  if (deviations_.size() != 0) {
    for (Index i = 0; i < dimension(); ++i) {
      bad +=
          euler_step(rows, block.x.col(i).data(), block.drift.col(i).data(), step,
                     block.normals.col(i).data(), scale * deviations_(i), block.next.col(i).data());
    }
  } else {
    fill_noise(time, block);
    for (Index i = 0; i < dimension(); ++i) {
      bad += euler_step(rows, block.x.col(i).data(), block.drift.col(i).data(), step,
                        block.noise.col(i).data(), scale, block.next.col(i).data());
    }
  }
  if (bad != 0 || !block.diverged.empty()) keep_diverged(block, bad != 0);
  block.x.swap(block.next);
}

void EulerMaruyama::keep_diverged(PathBlock& block, bool look_for_more) const {
  if (look_for_more) {
    for (Index j = 0; j < block.x.rows(); ++j) {
      if ((block.next.row(j).abs() <= kDivergedBeyond).all()) continue;
      const auto place = std::lower_bound(block.diverged.begin(), block.diverged.end(), j);
      if (place == block.diverged.end() || *place != j) block.diverged.insert(place, j);
    }
  }
  for (const Index j : block.diverged) block.next.row(j) = block.x.row(j);
}

}  // namespace sfumato
