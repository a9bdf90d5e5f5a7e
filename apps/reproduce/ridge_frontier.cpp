#include "reproduce/ridge_frontier.hpp"

#include <cmath>
#include <optional>

#include "sfumato/design/minimax_design.hpp"
#include "sfumato/risk/risk.hpp"
#include "sfumato/sde/chain_distribution.hpp"
#include "sfumato/sde/problem/ridge_change.hpp"
#include "sfumato/sde/spectrum.hpp"

namespace sfumato::apps {
namespace {

using Eigen::VectorXd;

/// A noise up to its strength: the step's covariance in the world of D and in that of D'.
struct NoiseShape {
  std::string policy;
  Covariance with, without;
};

LinearChain chain_of(const QuadraticLoss& loss, double learning_rate, const Covariance& noise) {
  return {loss.curvature, loss.pull, learning_rate, noise};
}

DesignTask diagonal_task(Covariance weights) {
  const Eigen::Index n = dimension(weights);
  DesignTask task;
  task.budget = {std::move(weights), static_cast<double>(n)};
  task.form = DesignForm::diagonal;
  return task;
}

/// Diagonal noise of one step that hides the worst of the public rows' gradients best; no variance below
/// a hundredth of the mean.
Covariance designed_by_step(const RidgeData& records, const RidgeProblem& problem) {
  const VectorXd residuals = records.features * problem.minimiser() - records.targets;
  const RowMajorMatrix gradients = residuals.asDiagonal() * records.features;
  DesignTask task = diagonal_task(Isotropic{1.0, gradients.cols()});
  task.floor = VectorXd::Constant(gradients.cols(), 0.01);
  Observer observer;
  return minimax_design(gradients, task, {}, observer).covariance;
}

/// Noise whose outcome hides the worst of the public rows' shifts of the minimiser best. In the
/// eigenbasis of the curvature the long-run variances v_i cost  sum l_i v_i / 2  of the loss, and a shift c
/// shows as  sum c_i^2 / v_i;  a step with variance  v_i (1 - (1 - eta l_i)^2)  keeps them up.
Covariance designed_by_outcome(const RidgeProblem& problem, double learning_rate) {
  const Spectrum spectrum = spectrum_of(problem.loss().curvature);
  const VectorXd& rates = spectrum.values;
  RowMajorMatrix shifts(problem.rows(), problem.parameters());
  for (Eigen::Index row = 0; row < problem.rows(); ++row) {
    shifts.row(row) =
        (spectrum.vectors.transpose() * minimiser_shift(problem, row, std::nullopt).value())
            .transpose();
  }
  DesignTask task = diagonal_task(Diagonal{rates});
  // A hundredth of what isotropic noise would give each direction.
  task.floor = 0.01 * rates.cwiseInverse();
  Observer observer;
  const VectorXd variances = diagonal_of(minimax_design(shifts, task, {}, observer).covariance);
  const VectorXd step = variances.array() * (1.0 - (1.0 - learning_rate * rates.array()).square());
  return Dense{spectrum.vectors * step.asDiagonal() * spectrum.vectors.transpose()};
}

std::vector<NoiseShape> shapes(const QuadraticLoss& d, const QuadraticLoss& d_prime, double floor,
                               const Covariance& by_step, const Covariance& by_outcome) {
  // Both start at 0, where the gradient is -pull.
  const VectorXd g = d.pull.cwiseAbs(), other = d_prime.pull.cwiseAbs();
  const Eigen::Index n = g.size();
  const double level = floor * g.maxCoeff();  // a public constant would do as well
  return {{"isotropic", Isotropic{1.0, n}, Isotropic{1.0, n}},
          {"isotropic_per_layer", Isotropic{g.maxCoeff(), n}, Isotropic{other.maxCoeff(), n}},
          {"anisotropic", Diagonal{g}, Diagonal{other}},
          {"floored", Diagonal{g.cwiseMax(level)}, Diagonal{other.cwiseMax(level)}},
          {"designed", by_step, by_step},
          {"designed_by_outcome", by_outcome, by_outcome}};
}

}  // namespace

std::vector<FrontierCurve> ridge_frontier(const RidgeFrontierOptions& options,
                                          const DataPlaces& places) {
  const RidgeData data = fashion_ridge(DataPart::train, options.rows, places);
  const RidgeProblem problem = ridge_problem(data, options.ridge);
  const QuadraticLoss& d = problem.loss();
  const QuadraticLoss d_prime = problem.neighbour(most_influential_row(problem), std::nullopt);
  const GaussianDistribution start = point_distribution(VectorXd::Zero(d.pull.size()));
  const RidgeData others = fashion_ridge(DataPart::test, options.rows, places);
  const RidgeProblem public_problem = ridge_problem(others, options.ridge);
  const Covariance by_step = designed_by_step(others, public_problem);
  const Covariance by_outcome = designed_by_outcome(public_problem, options.learning_rate);

  std::vector<FrontierCurve> curves;
  for (const NoiseShape& shape : shapes(d, d_prime, options.floor, by_step, by_outcome)) {
    // The loss is affine in sigma^2: what the noise adds per unit of it.
    const auto loss = [&](double variance) {
      return ChainDistribution(chain_of(d, options.learning_rate, scaled(shape.with, variance)),
                               start)
          .excess_loss(options.steps);
    };
    const double slope = loss(1.0) - loss(0.0);
    FrontierCurve curve{shape.policy, {}};
    for (int i = 0; i < options.points; ++i) {
      const double share = static_cast<double>(i) / (options.points - 1);
      const double added =
          options.least_loss * std::pow(options.largest_loss / options.least_loss, share);
      const double variance = added / slope;
      const ChainDistribution p(chain_of(d, options.learning_rate, scaled(shape.with, variance)),
                                start);
      const ChainDistribution q(
          chain_of(d_prime, options.learning_rate, scaled(shape.without, variance)), start);
      const Risk risk = Risk::exact(whiten_at(p, q, options.steps));
      curve.points.push_back({variance, p.excess_loss(options.steps), risk.advantage().value,
                              risk.kl(Direction::forward).value.value()});
    }
    curves.push_back(std::move(curve));
  }
  return curves;
}

}  // namespace sfumato::apps
