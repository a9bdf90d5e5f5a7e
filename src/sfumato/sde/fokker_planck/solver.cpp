#include "sfumato/sde/fokker_planck/solver.hpp"

#include <algorithm>

#include "sfumato/core/check.hpp"

namespace sfumato {
namespace {

using Eigen::ArrayXd;
using Eigen::ArrayXXd;
using Eigen::Index;

/// Rows of `columns` entries become columns.
void transpose(const ArrayXd& from, Index columns, ArrayXd& to) {
  const Index rows = from.size() / columns;
  to.resize(from.size());
  // Column-major views: `from` is columns x rows, `to` is rows x columns. Blocks keep both in cache.
  constexpr Index kBlock = 16;
  for (Index i = 0; i < rows; i += kBlock) {
    for (Index j = 0; j < columns; j += kBlock) {
      for (Index a = i; a < std::min(i + kBlock, rows); ++a) {
        for (Index b = j; b < std::min(j + kBlock, columns); ++b) {
          to(b * rows + a) = from(a * columns + b);
        }
      }
    }
  }
}

}  // namespace

FokkerPlanckSolver::FokkerPlanckSolver(const Diffusion& diffusion, const Grid& grid,
                                       ArrayXd density, double time)
    : grid_(grid), sampler_(diffusion, grid), density_(std::move(density)), time_(time) {
  require_size("density", density_.size(), grid_.size());
  axes_.resize(static_cast<std::size_t>(grid_.dimension()));
  coefficients_ = sampler_.at(time);
}

void FokkerPlanckSolver::factor(double dt) {
  for (Index k = 0; k < grid_.dimension(); ++k) {
    const auto axis = static_cast<std::size_t>(k);
    const Index cells = grid_.axis(k).cells;
    const Index lines = grid_.size() / cells;
    JumpRates rates = jump_rates((*coefficients_)[axis], grid_.axis(k).width());
    if (grid_.stride(k) == 1 && lines > 1) {
      ArrayXd turned;
      transpose(rates.up, cells - 1, turned);
      rates.up.swap(turned);
      transpose(rates.down, cells - 1, turned);
      rates.down.swap(turned);
    }
    axes_[axis].factor(rates, dt, cells, lines);
  }
  factored_dt_ = dt;
}

void FokkerPlanckSolver::step(double dt, double until) {
  const std::shared_ptr<const Coefficients>& now = sampler_.at(until);
  if (now != coefficients_) {
    coefficients_ = now;
    factored_dt_ = 0.0;
  }
  if (dt != factored_dt_) factor(dt);
  axes_.front().solve(density_.data());
  if (grid_.dimension() == 2) {
    transpose(density_, grid_.axis(1).cells, turned_);
    axes_.back().solve(turned_.data());
    transpose(turned_, grid_.axis(0).cells, density_);
  }
  time_ = until;
}

}  // namespace sfumato
