#include "sfumato/rows/release_cost.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "sfumato/core/check.hpp"
#include "sfumato/core/overloaded.hpp"
#include "sfumato/sde/chain_distribution.hpp"
#include "sfumato/sde/ou_distribution.hpp"

namespace sfumato {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

double normal_density(double x) {
  return std::exp(-0.5 * x * x) / std::sqrt(2.0 * std::numbers::pi);
}
double normal_below(double x) { return 0.5 * std::erfc(-x / std::numbers::sqrt2); }

/// log(1 + e^-margin).
double loss_at(double margin) {
  return margin > 0.0 ? std::log1p(std::exp(-margin)) : -margin + std::log1p(std::exp(margin));
}

/// E log(1 + e^-Z), Z ~ N(mean, deviation^2).
///
/// The loss is analytic within pi of the real line, so the trapezoidal rule in z = (Z - mean)/deviation errs by
/// e^(-2 pi^2/(deviation h)): below 1e-6 for h = 1.4/deviation. Beyond a deviation of 20 the loss is its positive part,
/// whose mean is known, plus a peak of area pi^2/6 at 0 that is narrow beside the density.
double expected_loss(double mean, double deviation) {
  if (deviation == 0.0) return loss_at(mean);
  if (deviation > 20.0) {
    const double at = mean / deviation;
    const double positive = deviation * normal_density(at) - mean * normal_below(-at);
    return positive + std::numbers::pi * std::numbers::pi / 6.0 * normal_density(at) / deviation;
  }
  constexpr double kReach = 8.0;
  const double step = std::min(0.5, 1.4 / deviation);
  const int count = static_cast<int>(std::ceil(kReach / step));
  double sum = 0.0, weight = 0.0;
  for (int i = -count; i <= count; ++i) {
    const double z = step * i;
    const double density = std::exp(-0.5 * z * z);
    sum += density * loss_at(mean + deviation * z);
    weight += density;
  }
  return sum / weight;
}

/// x^T V x for every row x.
VectorXd variances_of(const MatrixXd& features, const Covariance& covariance) {
  if (const auto* isotropic = std::get_if<Isotropic>(&covariance)) {
    return isotropic->variance * features.rowwise().squaredNorm();
  }
  if (const auto* diagonal = std::get_if<Diagonal>(&covariance)) {
    return features.cwiseAbs2() * diagonal->variances;
  }
  return features.cwiseProduct(features * dense(covariance)).rowwise().sum();
}

/// The distribution of a flow or a chain on a quadratic loss.
GaussianDistribution distribution_of(const QuadraticLoss& loss, const FlowRelease& flow) {
  return OuDistribution({loss.curvature, loss.pull, flow.noise, loss.given}, flow.start)
      .at(flow.time);
}
GaussianDistribution distribution_of(const QuadraticLoss& loss, const ChainRelease& chain) {
  return ChainDistribution({loss.curvature, loss.pull, chain.learning_rate,
                            scaled(chain.noise, chain.learning_rate), loss.given},
                           chain.start)
      .at(chain.steps);
}

}  // namespace

GaussianDistribution released_distribution(const RidgeProblem& problem, const Release& release) {
  return std::visit(Overloaded{[&](const MinimiserRelease& of) {
                                 return GaussianDistribution{problem.minimiser(), of.noise};
                               },
                               [&](const auto& of) { return distribution_of(problem.loss(), of); }},
                    release);
}

GaussianDistribution released_distribution(const ClassificationProblem& problem,
                                           const VectorXd& minimiser, const Release& release) {
  return std::visit(Overloaded{[&](const MinimiserRelease& of) {
                                 return GaussianDistribution{minimiser, of.noise};
                               },
                               [&](const auto& of) {
                                 return distribution_of(
                                     quadratic_from_point(problem.hessian(minimiser), minimiser),
                                     of);
                               }},
                    release);
}

Cost<RegressionQuality> cost_of(const GaussianDistribution& distribution, const MatrixXd& features,
                                const VectorXd& target) {
  const double count = static_cast<double>(target.size());
  const double total = (target.array() - target.mean()).square().sum();
  const double residual = (features * distribution.mean - target).squaredNorm();
  const double noise = variances_of(features, distribution.covariance).sum();
  const auto quality = [&](double squares) {
    return RegressionQuality{
        total > 0.0 ? 1.0 - squares / total : std::numeric_limits<double>::quiet_NaN(),
        std::sqrt(squares / count)};
  };
  return {quality(residual), quality(residual + noise)};
}

LabelCost label_cost_of(const GaussianDistribution& distribution, const MatrixXd& features,
                        const VectorXd& labels) {
  const VectorXd scores = features * distribution.mean;
  const VectorXd variances = variances_of(features, distribution.covariance);
  ClassificationQuality clean{0.0, 0.0}, noisy{0.0, 0.0};
  for (Index row = 0; row < labels.size(); ++row) {
    const double margin = labels(row) == 1.0 ? scores(row) : -scores(row);
    const double deviation = std::sqrt(variances(row));
    // A score of 0 is on neither side: a coin.
    const double right = margin > 0.0 ? 1.0 : margin < 0.0 ? 0.0 : 0.5;
    clean.accuracy += right;
    clean.log_loss += loss_at(margin);
    noisy.accuracy += deviation > 0.0 ? normal_below(margin / deviation) : right;
    noisy.log_loss += expected_loss(margin, deviation);
  }
  const double count = static_cast<double>(labels.size());
  for (ClassificationQuality* quality : {&clean, &noisy}) {
    quality->accuracy /= count;
    quality->log_loss /= count;
  }
  const double ones = labels.mean();
  return {{clean, noisy}, std::max(ones, 1.0 - ones)};
}

}  // namespace sfumato
