#include "sfumato/sde/fokker_planck/operator.hpp"

#include <fmt/format.h>

#include <cmath>

#include "sfumato/core/check.hpp"

namespace sfumato {
namespace {

using Eigen::ArrayXd;
using Eigen::Index;

std::string point_text(const Points& points, Index row) {
  std::string text = "(";
  for (Index k = 0; k < points.cols(); ++k) {
    text += fmt::format("{}{:.6g}", k == 0 ? "" : ", ", points(row, k));
  }
  return text + ")";
}

void require_usable(const PointCoefficients& found, double time, const Points& points) {
  for (Index k = 0; k < points.cols(); ++k) {
    for (Index j = 0; j < points.rows(); ++j) {
      const double variance = found.variances(j, k);
      if (!(std::isfinite(variance) && variance > 0.0)) {
        throw InvalidArgument(
            fmt::format("Sigma[{0}, {0}] = {1} at x = {2}, t = {3}", k, variance,
                        point_text(points, j), time),
            "A Fokker-Planck grid needs finite noise in every direction; add a little, or use "
            "simulation",
            Where::in("Fokker-Planck"));
      }
      if (!std::isfinite(found.drift(j, k)) || !std::isfinite(found.divergence(j, k))) {
        throw InvalidArgument(
            fmt::format("b[{0}] = {1} or the divergence of Sigma = {2} at x = {3}, t = {4} is not "
                        "finite",
                        k, found.drift(j, k), found.divergence(j, k), point_text(points, j), time),
            "Check the formula there, or give a smaller domain", Where::in("Fokker-Planck"));
      }
    }
  }
}

bool is_diagonal(const Eigen::MatrixXd& matrix) {
  const double off = (matrix - Eigen::MatrixXd(matrix.diagonal().asDiagonal())).cwiseAbs().sum();
  return off <= kRankTolerance * matrix.diagonal().cwiseAbs().maxCoeff();
}

void sample_matrix_noise(const MatrixNoise& noise, double time, const Points& points,
                         PointCoefficients& out) {
  for (Index j = 0; j < points.rows(); ++j) {
    const Eigen::VectorXd point = points.row(j).matrix().transpose();
    const Eigen::MatrixXd covariance = noise.covariance(time, point);
    if (!is_diagonal(covariance)) {
      throw InvalidArgument(
          fmt::format("Sigma(x) is not diagonal at x = {}, t = {}", point_text(points, j), time),
          "Two-dimensional grids take a constant Sigma or a diagonal Sigma(x); use simulation",
          Where::in("Fokker-Planck"));
    }
    out.variances.row(j) = covariance.diagonal().transpose().array();
    out.divergence.row(j) = noise.divergence(time, point).transpose().array();
  }
}

/// Centres along the other axis, faces along axis k, in storage order.
Points face_points(const Grid& grid, Index k) {
  const Index d = grid.dimension();
  if (d == 1) {
    Points points(grid.axis(0).cells - 1, 1);
    for (Index i = 0; i < points.rows(); ++i) points(i, 0) = grid.axis(0).face(i);
    return points;
  }
  const Index rows = grid.axis(0).cells - (k == 0 ? 1 : 0);
  const Index columns = grid.axis(1).cells - (k == 1 ? 1 : 0);
  Points points(rows * columns, 2);
  for (Index i = 0; i < rows; ++i) {
    for (Index j = 0; j < columns; ++j) {
      points(i * columns + j, 0) = k == 0 ? grid.axis(0).face(i) : grid.axis(0).center(i);
      points(i * columns + j, 1) = k == 1 ? grid.axis(1).face(j) : grid.axis(1).center(j);
    }
  }
  return points;
}

}  // namespace

double bernoulli_function(double w) {
  if (std::abs(w) < 1e-5) return 1.0 - 0.5 * w + w * w / 12.0;  // next term w^4/720 < 2e-23
  return w / std::expm1(w);
}

bool Coefficients::operator==(const Coefficients& other) const {
  if (axes.size() != other.axes.size()) return false;
  for (std::size_t k = 0; k < axes.size(); ++k) {
    if (axes[k].flux_drift.size() != other.axes[k].flux_drift.size() ||
        (axes[k].flux_drift != other.axes[k].flux_drift).any() ||
        (axes[k].variance != other.axes[k].variance).any()) {
      return false;
    }
  }
  return true;
}

JumpRates jump_rates(const FaceCoefficients& faces, double width) {
  const Index size = faces.variance.size();
  JumpRates rates{ArrayXd(size), ArrayXd(size)};
  for (Index i = 0; i < size; ++i) {
    const double diffusivity = 0.5 * faces.variance(i);
    const double w = faces.flux_drift(i) * width / diffusivity;
    const double scale = diffusivity / (width * width);
    // B(-w) = B(w) + w: one exponential for both, and a sum of positive terms.
    const double against = bernoulli_function(std::abs(w));
    const double along = against + std::abs(w);
    rates.up(i) = scale * (w > 0.0 ? along : against);
    rates.down(i) = scale * (w > 0.0 ? against : along);
  }
  return rates;
}

PointCoefficients sample(const Diffusion& diffusion, double time, const Points& points) {
  PointCoefficients out{Points(points.rows(), points.cols()), Points(points.rows(), points.cols()),
                        Points::Zero(points.rows(), points.cols())};
  diffusion.drift(time, points, out.drift);
  std::visit(
      Overloaded{[&](const Covariance& constant) {
                   out.variances =
                       diagonal_of(constant).transpose().array().replicate(points.rows(), 1);
                 },
                 [&](const DiagonalNoise& noise) {
                   noise.variances(time, points, out.variances);
                   noise.divergence(time, points, out.divergence);
                 },
                 [&](const MatrixNoise& noise) { sample_matrix_noise(noise, time, points, out); }},
      diffusion.noise);
  require_usable(out, time, points);
  return out;
}

FaceSampler::FaceSampler(const Diffusion& diffusion, const Grid& grid) : diffusion_(diffusion) {
  require_size("the diffusion", diffusion.dimension, grid.dimension());
  if (const Covariance* constant = constant_noise(diffusion)) {
    require_size("the diffusion's noise", dimension(*constant), grid.dimension());
    if (!is_diagonal(dense(*constant))) {
      throw InvalidArgument("the constant Sigma is not diagonal",
                            "Change coordinates with diagonalised_pair first");
    }
  }
  for (Index k = 0; k < grid.dimension(); ++k) faces_.push_back(face_points(grid, k));
}

Coefficients FaceSampler::at(double time) const {
  Coefficients out;
  for (std::size_t k = 0; k < faces_.size(); ++k) {
    const PointCoefficients found = sample(diffusion_, time, faces_[k]);
    const auto column = static_cast<Index>(k);
    out.axes.push_back({found.drift.col(column) - 0.5 * found.divergence.col(column),
                        found.variances.col(column)});
  }
  return out;
}

}  // namespace sfumato
