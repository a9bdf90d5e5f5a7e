// Orders of convergence, mass and positivity of the solver (Spec §12.3, §12.4).
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "sfumato/sde/fokker_planck/solver.hpp"
#include "sfumato/sde/ou_distribution.hpp"
#include "support/fokker_planck_problems.hpp"

namespace sfumato {
namespace {

using Eigen::ArrayXd;
using Eigen::Index;

constexpr double kEnd = 0.5;

FokkerPlanckSolver run(const StartedDiffusion& distribution, const Grid& grid, Index steps) {
  FokkerPlanckSolver solver(distribution.diffusion, grid,
                            gaussian_density(grid, distribution.start), 0.0);
  const double dt = kEnd / static_cast<double>(steps);
  for (Index k = 1; k <= steps; ++k) solver.step(dt, dt * static_cast<double>(k));
  return solver;
}

/// -E log of a density: a smooth functional of the distribution.
double entropy(const Grid& grid, const ArrayXd& density) {
  double sum = 0.0;
  for (const double p : density) {
    if (p > 1e-250) sum -= p * std::log(p);
  }
  return sum * grid.volume();
}

// dX = -(X - 1) dt + sqrt(0.6) dW from N(0, 0.25): Gaussian with a known variance.
StartedDiffusion ou() { return testing::ornstein_uhlenbeck(1.0, 1.0, 0.6, 0.0, 0.25); }
double exact_entropy() {
  const double decay = std::exp(-2.0 * kEnd);
  const double variance = 0.25 * decay + 0.3 * (1.0 - decay);
  return 0.5 * std::log(2.0 * std::acos(-1.0) * std::exp(1.0) * variance);
}

double value(Index cells, Index steps) {
  const Grid grid({{-4.5, 4.5}}, cells);
  return entropy(grid, run(ou(), grid, steps).density());
}

TEST(FokkerPlanckSolver, SecondOrderInTheCellWidth) {
  std::vector<double> errors;
  for (const Index cells : {50, 100, 200}) {
    const double a = value(cells, 40);
    const double b = value(cells, 80);
    const double c = value(cells, 160);
    errors.push_back((8.0 * c - 6.0 * b + a) / 3.0 - exact_entropy());  // two orders of dt removed
  }
  EXPECT_NEAR(errors[0] / errors[1], 4.0, 0.1);
  EXPECT_NEAR(errors[1] / errors[2], 4.0, 0.1);
}

TEST(FokkerPlanckSolver, FirstOrderInTheStepAndSecondAfterExtrapolation) {
  std::vector<double> values;
  for (const Index steps : {16, 32, 64, 128, 256}) values.push_back(value(200, steps));
  const std::size_t n = values.size();
  // The limit dt -> 0 on this grid, from the finest three.
  const double limit = (8.0 * values[n - 1] - 6.0 * values[n - 2] + values[n - 3]) / 3.0;
  EXPECT_NEAR((values[0] - limit) / (values[1] - limit), 2.0, 0.1);
  EXPECT_NEAR((values[1] - limit) / (values[2] - limit), 2.0, 0.05);
  const double once0 = 2.0 * values[1] - values[0] - limit;
  const double once1 = 2.0 * values[2] - values[1] - limit;
  EXPECT_NEAR(once0 / once1, 4.0, 0.25);
}

TEST(FokkerPlanckSolver, KeepsMassAndPositivityForAnyStep) {
  const Grid grid({{-4.0, 4.0}}, 400);
  const StartedDiffusion distribution = testing::double_well_p();
  for (const double dt : {1e-6, 1e-3, 1.0, 1e6}) {
    FokkerPlanckSolver solver(distribution.diffusion, grid,
                              gaussian_density(grid, distribution.start), 0.0);
    for (int k = 1; k <= 20; ++k) {
      solver.step(dt, dt * k);
      ASSERT_GE(solver.density().minCoeff(), 0.0) << dt;
      ASSERT_NEAR(mass(grid, solver.density()), 1.0, 1e-12) << dt;
    }
  }
}

TEST(FokkerPlanckSolver, EquilibriumKeepsItsTailsToFullPrecision) {
  // Steps of length 1e9 lead to the null vector of the generator, whose neighbouring cells balance,
  // p_{i+1} / p_i = up / down, also where p is 1e-200. Each step leaves 1e-14 of the start behind.
  const Grid grid({{-6.0, 6.0}}, 300);
  const StartedDiffusion distribution = testing::double_well_p();
  FokkerPlanckSolver solver(distribution.diffusion, grid,
                            gaussian_density(grid, distribution.start), 0.0);
  for (int k = 1; k <= 25; ++k) solver.step(1e9, 1e9 * k);
  const JumpRates rates = jump_rates((*solver.coefficients())[0], grid.axis(0).width());
  for (Index i = 0; i + 1 < grid.size(); ++i) {
    const double flow = solver.density()(i) * rates.up(i);
    if (flow < 1e-280) continue;
    ASSERT_NEAR(solver.density()(i + 1) * rates.down(i) / flow, 1.0, 1e-6) << i;
  }
}

TEST(FokkerPlanckSolver, TwoAxesThatDoNotInteractAreAProduct) {
  const Grid line({{-4.5, 4.5}}, 60);
  const Grid plane({{-4.5, 4.5}, {-4.5, 4.5}}, 60);
  const StartedDiffusion both = testing::started(
      testing::on_plane([](double, double x, double y) { return std::pair(-(x - 1.0), -2.0 * y); }),
      Covariance(Diagonal{Eigen::Vector2d(0.6, 0.9)}), Eigen::Vector2d(0.0, 0.2), 0.25);
  const ArrayXd joint = run(both, plane, 20).density();
  const ArrayXd x = run(ou(), line, 20).density();
  const ArrayXd y = run(testing::ornstein_uhlenbeck(2.0, 0.0, 0.9, 0.2, 0.25), line, 20).density();
  for (Index i = 0; i < 60; ++i) {
    for (Index j = 0; j < 60; ++j) ASSERT_NEAR(joint(i * 60 + j), x(i) * y(j), 1e-14);
  }
}

TEST(FokkerPlanckSolver, RefusesADensityOfAnotherSize) {
  EXPECT_THROW(FokkerPlanckSolver(ou().diffusion, Grid({{-4.0, 4.0}}, 40), ArrayXd::Ones(39), 0.0),
               InvalidArgument);
}

}  // namespace
}  // namespace sfumato
