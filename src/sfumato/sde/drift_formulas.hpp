#pragma once

#include <Eigen/Core>
#include <optional>
#include <vector>

#include "sfumato/math/expression.hpp"
#include "sfumato/math/interval.hpp"
#include "sfumato/sde/diffusion.hpp"

namespace sfumato {

/// The formulas of a drift b(x, t), variables being the coordinates and then the time, with exact derivatives.
struct DriftFormulas {
  explicit DriftFormulas(std::vector<Expression> formulas);

  std::vector<Expression> drift;     ///< one per coordinate
  std::vector<Expression> jacobian;  ///< d b_i / d x_j, row by row

  [[nodiscard]] Eigen::Index dimension() const { return static_cast<Eigen::Index>(drift.size()); }
  [[nodiscard]] const Expression& slope(Eigen::Index i, Eigen::Index j) const {
    return jacobian[static_cast<std::size_t>(i * dimension() + j)];
  }
  /// Whether formula i mentions coordinate j.
  [[nodiscard]] bool depends(Eigen::Index i, Eigen::Index j) const {
    return drift[static_cast<std::size_t>(i)].depends_on(static_cast<std::size_t>(j));
  }

  /// The drift and its Jacobian at a point.
  [[nodiscard]] Eigen::VectorXd at(double time, const Eigen::VectorXd& x) const;
  [[nodiscard]] Eigen::MatrixXd jacobian_at(double time, const Eigen::VectorXd& x) const;

  /// Whether a coordinate may jump, so that its Jacobian, where it has one, is not all of its change.
  [[nodiscard]] bool may_jump() const;
};

/// What interval arithmetic proves of formulas, for all x and all times >= 0.

/// Empty where a formula is too long to enclose. Entries may be infinite.
[[nodiscard]] std::optional<JacobianBox> jacobian_box(const DriftFormulas& formulas);

/// Of the difference a = b - b': its coordinates, its Jacobian, and e = |a|_N^2 - 2 tr(M N Da) (Spec §27.4 (1)).
struct GapRange {
  std::vector<Interval> gap;
  JacobianBox slope;
};
[[nodiscard]] std::optional<GapRange> gap_range(const DriftFormulas& p, const DriftFormulas& q);

/// Upper ends of |b(x)| and of |L^{-1} (b - b')(x)| at a point and time 0, rounded up; +inf where nothing is proven.
/// `inverse_root` is L^{-1}, taken as given.
[[nodiscard]] double size_at(const DriftFormulas& drift, const Eigen::VectorXd& x);
[[nodiscard]] double gap_size_at(const DriftFormulas& p, const DriftFormulas& q,
                                 const Eigen::VectorXd& x, const Eigen::MatrixXd& inverse_root);

/// factor |x - centre|^2.
struct Paraboloid {
  Eigen::VectorXd centre = {};
  double factor = 0.0;
};

/// The range of e less a paraboloid: an upper end of +inf where nothing is proven. `metric` is N, `noise_gap` is M.
[[nodiscard]] Interval rate_range(const DriftFormulas& p, const DriftFormulas& q,
                                  const Eigen::MatrixXd& metric, const Eigen::MatrixXd& noise_gap,
                                  const Paraboloid& less = {});
/// The largest 2 (x - centre)^T b + rate |x - centre|^2: with tr Sigma added, what E|X - centre|^2 gains per time over
/// its decay at that rate.
[[nodiscard]] double largest_growth(const DriftFormulas& drift, const Eigen::VectorXd& centre,
                                    double rate);
/// The range of |a|_N^2 alone.
[[nodiscard]] Interval squared_gap_range(const DriftFormulas& p, const DriftFormulas& q,
                                         const Eigen::MatrixXd& metric);

/// The formulas of some coordinates, which mention no others.
[[nodiscard]] DriftFormulas restricted(const DriftFormulas& formulas,
                                       const std::vector<Eigen::Index>& coordinates);

}  // namespace sfumato
