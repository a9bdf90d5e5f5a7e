#include "sfumato/divergence/grid_entropy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "sfumato/core/check.hpp"

namespace sfumato {
namespace {

using Eigen::ArrayXd;
using Eigen::Index;

constexpr double kUnsupportedMass = 1e-12;

/// log density, or -inf at and below the floor.
ArrayXd floored_log(const ArrayXd& density) {
  ArrayXd logs(density.size());
  for (Index c = 0; c < density.size(); ++c) {
    logs(c) = density(c) > kDensityFloor ? std::log(density(c))
                                         : -std::numeric_limits<double>::infinity();
  }
  return logs;
}

double kl_from_logs(const Grid& grid, const ArrayXd& p, const ArrayXd& q, const ArrayXd& log_p,
                    const ArrayXd& log_q) {
  double sum = 0.0;
  double unsupported = 0.0;
  for (Index c = 0; c < p.size(); ++c) {
    if (!(p(c) > kDensityFloor)) {
      sum += q(c);
    } else if (q(c) > kDensityFloor) {
      // p log(p/q) - p + q >= 0 in every cell: nothing cancels between cells when the distributions are close.
      sum += p(c) * (log_p(c) - log_q(c)) - (p(c) - q(c));
    } else {
      unsupported += p(c);
    }
  }
  if (unsupported * grid.volume() > kUnsupportedMass) {
    throw NumericalFailure(
        fmt::format(
            "one distribution has mass {:.3g} where the density of the other is below {:.0e}",
            unsupported * grid.volume(), kDensityFloor),
        "The distributions are too far apart for a grid; use the bounds or exact Gaussian "
        "distributions",
        Where::here("grid entropy"));
  }
  return sum * grid.volume();
}

struct RateSums {
  double p_rate = 0.0, p_primal = 0.0, p_dual = 0.0;
  double q_rate = 0.0, q_primal = 0.0, q_dual = 0.0;
};

struct Densities {
  const ArrayXd& p;
  const ArrayXd& q;
  const ArrayXd& log_p;
  const ArrayXd& log_q;
};

/// Adds the faces `face`, `face + 1`, ... between cells c and c + stride for c from `cell`.
void add_faces(const Densities& at, const FaceCoefficients& first, const FaceCoefficients& second,
               Index cell, Index face, Index count, Index stride, double width, RateSums& sums) {
  for (Index i = 0; i < count; ++i) {
    const Index a = cell + i;
    const Index b = a + stride;
    const double least = std::min(std::min(at.p(a), at.p(b)), std::min(at.q(a), at.q(b)));
    if (!(least > kDensityFloor)) continue;
    const double score_p = (at.log_p(b) - at.log_p(a)) / width;
    const double score_q = (at.log_q(b) - at.log_q(a)) / width;
    const double gap = score_p - score_q;
    const double variance = first.variance(face + i);
    const double variance_q = second.variance(face + i);
    const double more_noise = 0.5 * (variance_q - variance);
    const double more_drift = second.flux_drift(face + i) - first.flux_drift(face + i);
    const double phi = more_noise * score_q - more_drift;
    const double psi = more_noise * score_p - more_drift;
    const double p = at.p(a) + at.p(b);
    const double q = at.q(a) + at.q(b);
    const double primal = phi * phi / variance;
    const double dual = psi * psi / variance_q;
    sums.p_rate += p * (phi * gap - 0.5 * variance * gap * gap);
    sums.p_primal += p * primal;
    sums.p_dual += p * dual;
    sums.q_rate += q * (psi * gap - 0.5 * variance_q * gap * gap);
    sums.q_primal += q * dual;
    sums.q_dual += q * primal;
  }
}

}  // namespace

GridEntropy grid_entropy(const Grid& grid, const ArrayXd& p, const Coefficients& p_coefficients,
                         const ArrayXd& q, const Coefficients& q_coefficients) {
  require_size("p", p.size(), grid.size());
  require_size("q", q.size(), grid.size());
  const ArrayXd log_p = floored_log(p);
  const ArrayXd log_q = floored_log(q);
  const Densities at{p, q, log_p, log_q};
  RateSums sums;
  for (Index k = 0; k < grid.dimension(); ++k) {
    const FaceCoefficients& first = p_coefficients[static_cast<std::size_t>(k)];
    const FaceCoefficients& second = q_coefficients[static_cast<std::size_t>(k)];
    const double width = grid.axis(k).width();
    const Index cells = grid.axis(k).cells;
    if (grid.stride(k) > 1) {
      add_faces(at, first, second, 0, 0, grid.size() - grid.stride(k), grid.stride(k), width, sums);
      continue;
    }
    for (Index line = 0; line < grid.size() / cells; ++line) {
      add_faces(at, first, second, line * cells, line * (cells - 1), cells - 1, 1, width, sums);
    }
  }
  const double half = 0.5 * grid.volume();  // the mean of two cells
  return {{kl_from_logs(grid, p, q, log_p, log_q), half * sums.p_rate, 0.5 * half * sums.p_primal,
           0.5 * half * sums.p_dual},
          {kl_from_logs(grid, q, p, log_q, log_p), half * sums.q_rate, 0.5 * half * sums.q_primal,
           0.5 * half * sums.q_dual}};
}

double grid_hockey_stick(const Grid& grid, const ArrayXd& p, const ArrayXd& q, double epsilon) {
  require_size("p", p.size(), grid.size());
  require_size("q", q.size(), grid.size());
  const double factor = std::exp(require_finite("epsilon", epsilon));
  const ArrayXd excess = p - factor * q;
  const Index cells = grid.axis(grid.dimension() - 1).cells;
  double sum = 0.0;
  for (Index line = 0; line < grid.size(); line += cells) {
    for (Index c = line; c + 1 < line + cells; ++c) {
      const double a = std::max(excess(c), excess(c + 1));
      const double b = std::min(excess(c), excess(c + 1));
      if (b >= 0.0) {
        sum += 0.5 * (a + b);
      } else if (a > 0.0) {
        sum += 0.5 * a * a / (a - b);
      }
    }
  }
  return sum * grid.volume();
}

}  // namespace sfumato
