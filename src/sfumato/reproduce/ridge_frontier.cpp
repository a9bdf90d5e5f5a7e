#include "sfumato/reproduce/ridge_frontier.hpp"

#include <cmath>
#include <optional>

#include "sfumato/design/minimax_design.hpp"
#include "sfumato/privacy/risk.hpp"
#include "sfumato/sde/chain_law.hpp"

namespace sfumato {
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

/// The noise of a form that hides the worst of the gradients of public rows best; no variance below a
/// hundredth of the mean.
Covariance designed(const RidgeData& records, double ridge, DesignForm form) {
  const RidgeProblem problem = ridge_problem(records, ridge);
  const VectorXd residuals = records.features * problem.minimiser() - records.targets;
  const RowMajorMatrix gradients = residuals.asDiagonal() * records.features;
  const Eigen::Index dimension = gradients.cols();
  DesignTask task;
  task.budget = trace_budget(dimension, static_cast<double>(dimension));
  task.form = form;
  task.floor = VectorXd::Constant(dimension, 0.01);
  Observer observer;
  return minimax_design(gradients, task, {}, observer).covariance;
}

std::vector<NoiseShape> shapes(const QuadraticLoss& d, const QuadraticLoss& d_prime, double floor,
                               const Covariance& diagonal, const Covariance& full) {
  // Both start at 0, where the gradient is -pull.
  const VectorXd g = d.pull.cwiseAbs(), other = d_prime.pull.cwiseAbs();
  const Eigen::Index n = g.size();
  const double level = floor * g.maxCoeff();  // a public constant would do as well
  return {{"isotropic", Isotropic{1.0, n}, Isotropic{1.0, n}},
          {"isotropic_per_layer", Isotropic{g.maxCoeff(), n}, Isotropic{other.maxCoeff(), n}},
          {"anisotropic", Diagonal{g}, Diagonal{other}},
          {"floored", Diagonal{g.cwiseMax(level)}, Diagonal{other.cwiseMax(level)}},
          {"designed", diagonal, diagonal},
          {"designed_full", full, full}};
}

}  // namespace

std::vector<FrontierCurve> ridge_frontier(const RidgeFrontierOptions& options,
                                          const DataPlaces& places) {
  const RidgeData data = fashion_ridge(DataPart::train, options.rows, places);
  const RidgeProblem problem = ridge_problem(data, options.ridge);
  const QuadraticLoss& d = problem.loss();
  const QuadraticLoss d_prime = problem.neighbour(most_influential_row(problem), std::nullopt);
  const GaussianLaw start = point_law(VectorXd::Zero(d.pull.size()));
  const RidgeData others = fashion_ridge(DataPart::test, options.rows, places);
  const Covariance diagonal = designed(others, options.ridge, DesignForm::diagonal);
  const Covariance full = designed(others, options.ridge, DesignForm::full);

  std::vector<FrontierCurve> curves;
  for (const NoiseShape& shape : shapes(d, d_prime, options.floor, diagonal, full)) {
    // The loss is affine in sigma^2: what the noise adds per unit of it.
    const auto loss = [&](double variance) {
      return ChainLaw(chain_of(d, options.learning_rate, scaled(shape.with, variance)), start)
          .excess_loss(options.steps);
    };
    const double slope = loss(1.0) - loss(0.0);
    FrontierCurve curve{shape.policy, {}};
    for (int i = 0; i < options.points; ++i) {
      const double share = static_cast<double>(i) / (options.points - 1);
      const double added =
          options.least_loss * std::pow(options.largest_loss / options.least_loss, share);
      const double variance = added / slope;
      const ChainLaw p(chain_of(d, options.learning_rate, scaled(shape.with, variance)), start);
      const ChainLaw q(chain_of(d_prime, options.learning_rate, scaled(shape.without, variance)),
                       start);
      const Risk risk = Risk::exact(whiten_at(p, q, options.steps));
      curve.points.push_back({variance, p.excess_loss(options.steps), risk.advantage().value,
                              risk.kl(Direction::forward).value.value()});
    }
    curves.push_back(std::move(curve));
  }
  return curves;
}

}  // namespace sfumato
