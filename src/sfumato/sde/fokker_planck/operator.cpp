#include "sfumato/sde/fokker_planck/operator.hpp"

#include <fmt/format.h>

#include <algorithm>
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
            Where::here("Fokker-Planck"));
      }
      const double divergence = found.divergence.size() > 0 ? found.divergence(j, k) : 0.0;
      if (!std::isfinite(found.drift(j, k)) || !std::isfinite(divergence)) {
        throw InvalidArgument(fmt::format("{} is not finite at x = {}, t = {}",
                                          std::isfinite(divergence) ? fmt::format("b[{}]", k)
                                                                    : "the divergence of Sigma",
                                          point_text(points, j), time),
                              "Check the formula there, or give a smaller domain",
                              Where::here("Fokker-Planck"));
      }
    }
  }
}

bool is_nearly_diagonal(const Eigen::MatrixXd& matrix) {
  const double off = (matrix - Eigen::MatrixXd(matrix.diagonal().asDiagonal())).cwiseAbs().sum();
  return off <= kRankTolerance * matrix.diagonal().cwiseAbs().maxCoeff();
}

void sample_matrix_noise(const MatrixNoise& noise, double time, const Points& points,
                         PointCoefficients& out) {
  for (Index j = 0; j < points.rows(); ++j) {
    const Eigen::VectorXd point = points.row(j).matrix().transpose();
    const Eigen::MatrixXd covariance = noise.covariance(time, point);
    if (!is_nearly_diagonal(covariance)) {
      throw InvalidArgument(
          fmt::format("Sigma(x) is not diagonal at x = {}, t = {}", point_text(points, j), time),
          "Two-dimensional grids take a constant Sigma or a diagonal Sigma(x); use simulation",
          Where::here("Fokker-Planck"));
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

/// Into arrays that are reused from call to call. A constant Sigma is written once, and has no
/// divergence.
void sample_into(const Diffusion& diffusion, double time, const Points& points,
                 PointCoefficients& out) {
  const Index rows = points.rows();
  const Index columns = points.cols();
  out.drift.resize(rows, columns);
  diffusion.drift(time, points, out.drift);
  const bool filled = out.variances.rows() == rows && out.variances.cols() == columns;
  out.variances.resize(rows, columns);
  if (const Covariance* constant = constant_noise(diffusion)) {
    if (!filled) out.variances = diagonal_of(*constant).transpose().array().replicate(rows, 1);
    return;
  }
  out.divergence.resize(rows, columns);
  if (const auto* diagonal = std::get_if<DiagonalNoise>(&diffusion.noise)) {
    diagonal->variances(time, points, out.variances);
    diagonal->divergence(time, points, out.divergence);
  } else {
    sample_matrix_noise(std::get<MatrixNoise>(diffusion.noise), time, points, out);
  }
}

bool same(const PointCoefficients& a, const PointCoefficients& b) {
  return a.drift.rows() == b.drift.rows() && (a.drift == b.drift).all() &&
         (a.variances == b.variances).all() && (a.divergence == b.divergence).all();
}

}  // namespace

double bernoulli_function(double w) {
  if (std::abs(w) < 1e-5) return 1.0 - 0.5 * w + w * w / 12.0;  // next term w^4/720 < 2e-23
  return w / std::expm1(w);
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

double cell_peclet_number(const Grid& grid, const Coefficients& coefficients,
                          const ArrayXd& density) {
  double largest = 0.0;
  for (Index k = 0; k < grid.dimension(); ++k) {
    const FaceCoefficients& faces = coefficients[static_cast<std::size_t>(k)];
    const Index lines = grid.stride(k) > 1 ? 1 : grid.size() / grid.axis(k).cells;
    const Index count = faces.variance.size() / lines;
    double sum = 0.0;
    for (Index i = 0; i < faces.variance.size(); ++i) {
      const double w = 2.0 * faces.flux_drift(i) / faces.variance(i);
      sum += w * w * density(i + i / count);  // the cell below the face
    }
    largest = std::max(largest, std::sqrt(sum * grid.volume()) * grid.axis(k).width());
  }
  return largest;
}

PointCoefficients sample(const Diffusion& diffusion, double time, const Points& points) {
  PointCoefficients out;
  sample_into(diffusion, time, points, out);
  require_usable(out, time, points);
  return out;
}

FaceSampler::FaceSampler(const Diffusion& diffusion, const Grid& grid) : diffusion_(diffusion) {
  require_size("the diffusion", diffusion.dimension, grid.dimension());
  if (const Covariance* constant = constant_noise(diffusion)) {
    require_size("the diffusion's noise", dimension(*constant), grid.dimension());
    if (!is_nearly_diagonal(dense(*constant))) {
      throw InvalidArgument("the constant Sigma is not diagonal",
                            "Change coordinates with diagonalising_map first");
    }
  }
  for (Index k = 0; k < grid.dimension(); ++k) faces_.push_back(face_points(grid, k));
  sampled_.resize(faces_.size());
}

const std::shared_ptr<const Coefficients>& FaceSampler::at(double time) {
  if (coefficients_ != nullptr && diffusion_.autonomous) return coefficients_;
  bool changed = coefficients_ == nullptr;
  for (std::size_t k = 0; k < faces_.size(); ++k) {
    sample_into(diffusion_, time, faces_[k], scratch_);
    if (coefficients_ != nullptr && same(scratch_, sampled_[k])) continue;
    require_usable(scratch_, time, faces_[k]);
    std::swap(scratch_, sampled_[k]);
    changed = true;
  }
  if (!changed) return coefficients_;
  auto next = std::make_shared<Coefficients>();
  for (std::size_t k = 0; k < faces_.size(); ++k) {
    const auto column = static_cast<Index>(k);
    const PointCoefficients& found = sampled_[k];
    Eigen::ArrayXd drift = found.drift.col(column);
    if (found.divergence.size() > 0) drift -= 0.5 * found.divergence.col(column);
    next->push_back({std::move(drift), found.variances.col(column)});
  }
  coefficients_ = std::move(next);
  return coefficients_;
}

}  // namespace sfumato
