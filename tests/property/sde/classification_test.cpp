#include "sfumato/sde/problem/classification.hpp"

#include <gtest/gtest.h>

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <cmath>

#include "sfumato/sde/problem/classification_fit.hpp"
#include "support/random_problem.hpp"

namespace sfumato {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;
using testing::RandomProblem;

ClassificationProblem random_problem(RandomProblem& random, bool ridge_always = true) {
  const Index p = random.integer(1, 4);
  const Index n = p + random.integer(3, 40);
  const Index classes = random.integer(2, 4);
  MatrixXd features = random.matrix(n, p);
  for (Index j = 0; j < p; ++j) features.col(j) *= random.log_uniform(0.2, 5.0);
  if (random.integer(0, 4) == 0) features.row(0) *= random.log_uniform(3.0, 30.0);
  RidgeOptions options{random.integer(0, 1) == 0 ? LossScale::sum : LossScale::mean,
                       random.log_uniform(1e-3, 10.0)};
  if (!ridge_always && random.integer(0, 1) == 0) options.ridge = 0.0;
  if (options.loss == LossScale::sum && random.integer(0, 2) == 0) {
    options.ridge_scale = RidgeScale::times_rows;
  }
  VectorXd labels(n);
  const bool binary = random.integer(0, 1) == 0;
  for (double& label : labels)
    label = random.integer(0, static_cast<int>(binary ? 2 : classes) - 1);
  return binary ? ClassificationProblem::logistic(features, labels, options)
                : ClassificationProblem::softmax(features, labels, classes, options);
}

Neighbour random_neighbour(RandomProblem& random, const ClassificationProblem& problem) {
  Neighbour neighbour{random.integer(0, static_cast<int>(problem.rows()) - 1)};
  if (random.integer(0, 1) == 0) {
    Record record = problem.record(neighbour.row);
    if (random.integer(0, 2) > 0) record.features += random.vector(record.features.size());
    record.target =
        random.integer(0, static_cast<int>(problem.is_softmax() ? problem.outputs() : 2) - 1);
    neighbour.replacement = record;
  }
  return neighbour;
}

TEST(Classification, DerivativesMatchDifferences) {
  for (unsigned seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(seed);
    RandomProblem random(seed);
    const auto problem = random_problem(random);
    const VectorXd at = 0.5 * random.vector(problem.parameters());
    const VectorXd direction = random.vector(problem.parameters()).normalized();
    const double h = 1e-5;
    const auto moved = [&](double step) { return VectorXd(at + step * direction); };
    const double slope = (problem.loss(moved(h)) - problem.loss(moved(-h))) / (2 * h);
    const double scale = 1.0 + problem.gradient(at).norm() + problem.loss(at);
    EXPECT_NEAR(problem.gradient(at).dot(direction), slope, 1e-7 * scale);
    const VectorXd bend = (problem.gradient(moved(h)) - problem.gradient(moved(-h))) / (2 * h);
    const MatrixXd hessian = problem.hessian(at);
    EXPECT_LT((hessian * direction - bend).norm(), 1e-6 * (1.0 + hessian.norm()));

    const auto own = problem.weights();
    const VectorXd sum = problem.row_gradients(at).colwise().sum().transpose();
    EXPECT_LT((own.row * sum + own.ridge * at - problem.gradient(at)).norm(), 1e-11 * scale);
    MatrixXd roots = own.ridge * MatrixXd::Identity(at.size(), at.size());
    for (Index l = 0; l < problem.rows(); ++l) {
      const MatrixXd root = problem.record_hessian_root(problem.record(l), at);
      roots += own.row * root * root.transpose();
    }
    EXPECT_LT((roots - hessian).norm(), 1e-11 * hessian.norm());
  }
}

TEST(Classification, ConstantsHoldAtRandomPoints) {
  for (unsigned seed = 0; seed < 1000; ++seed) {
    SCOPED_TRACE(seed);
    RandomProblem random(seed);
    const auto problem = random_problem(random);
    const LinkConstants link = problem.constants();
    const VectorXd at = random.log_uniform(0.01, 30.0) * random.vector(problem.parameters());
    const Record record = problem.record(0);
    const double length = record.features.norm();
    EXPECT_LE(problem.record_gradient(record, at).norm(), link.gradient * length * (1 + 1e-14));
    const MatrixXd root = problem.record_hessian_root(record, at);
    const double curvature = (root.transpose() * root).operatorNorm();
    EXPECT_LE(curvature, link.curvature * length * length * (1 + 1e-12));
    const Eigen::SelfAdjointEigenSolver<MatrixXd> solver(problem.hessian(at));
    const double largest = solver.eigenvalues().maxCoeff();
    EXPECT_LE(largest, hessian_bound(problem));
    const double ridge = problem.weights().ridge;
    EXPECT_GE(solver.eigenvalues().minCoeff(), ridge - 1e-12 * largest);
    // Hess(w + v) >= e^{-bending |x| |v|} Hess(w), along a random direction.
    const VectorXd v =
        random.log_uniform(0.01, 3.0) / length * random.vector(at.size()).normalized();
    const VectorXd u = random.vector(at.size());
    const double before = (problem.record_hessian_root(record, at).transpose() * u).squaredNorm();
    const double after =
        (problem.record_hessian_root(record, at + v).transpose() * u).squaredNorm();
    EXPECT_GE(after * (1 + 1e-9) + 1e-13 * u.squaredNorm() * length * length,
              std::exp(-link.bending * length * v.norm()) * before);
  }
}

/// The minimiser in long double: Newton's corrections with exact residuals from a good start.
VectorXd refined(const ClassificationProblem& problem, VectorXd at) {
  using LongVector = Eigen::Matrix<long double, Eigen::Dynamic, 1>;
  using LongMatrix = Eigen::Matrix<long double, Eigen::Dynamic, Eigen::Dynamic>;
  const LongMatrix x = problem.features().cast<long double>();
  const auto own = problem.weights();
  const Index p = x.cols();
  const Index m = problem.outputs();
  LongVector w = at.cast<long double>();
  const Eigen::LDLT<MatrixXd> hessian(problem.hessian(at));
  for (int step = 0; step < 30; ++step) {
    LongVector gradient = static_cast<long double>(own.ridge) * w;
    for (Index l = 0; l < x.rows(); ++l) {
      LongVector z(m);
      for (Index k = 0; k < m; ++k) z(k) = x.row(l).dot(w.segment(k * p, p));
      const double label = problem.record(l).target;
      if (m == 1) {
        z(0) = 1.0L / (1.0L + std::exp(-z(0))) - static_cast<long double>(label);
      } else {
        z = (z.array() - z.maxCoeff()).exp();
        z /= z.sum();
        z(static_cast<Index>(label)) -= 1.0L;
      }
      for (Index k = 0; k < m; ++k) {
        gradient.segment(k * p, p) +=
            static_cast<long double>(own.row) * z(k) * x.row(l).transpose();
      }
    }
    w -= hessian.solve(gradient.cast<double>()).cast<long double>();
  }
  return w.cast<double>();
}

TEST(Classification, CertificatesContainTheMinimiser) {
  for (unsigned seed = 0; seed < 1000; ++seed) {
    SCOPED_TRACE(seed);
    RandomProblem random(seed);
    const auto problem = random_problem(random);
    const Convexity fit = convexity(problem);
    const double error = (fit.minimiser - refined(problem, fit.minimiser)).norm();
    const double rounding = 2e-16 * (1.0 + fit.minimiser.norm());
    EXPECT_LE(error, fit.distance + rounding);
    EXPECT_LE(fit.distance, 1e-8 * (1.0 + fit.minimiser.norm()));
    EXPECT_LE(problem.gradient(fit.minimiser).norm(), fit.gradient_norm);
  }
}

TEST(Classification, NeighboursAgreeWithTheirOwnFits) {
  for (unsigned seed = 0; seed < 1000; ++seed) {
    SCOPED_TRACE(seed);
    RandomProblem random(seed + 50000);
    const auto problem = random_problem(random);
    const ClassificationFit fit(problem);
    std::vector<Neighbour> neighbours;
    for (int k = 0; k < 3; ++k) neighbours.push_back(random_neighbour(random, problem));
    const auto found = fit.neighbours(neighbours);
    for (std::size_t k = 0; k < neighbours.size(); ++k) {
      const auto own = problem.neighbour(neighbours[k].row, neighbours[k].replacement);
      const Convexity exact = convexity(own);
      EXPECT_LE((found[k].minimiser - exact.minimiser).norm(), found[k].distance + exact.distance);
      const double shift = (exact.minimiser - fit.convexity().minimiser).norm();
      EXPECT_LE(found[k].distance, 2e-3 * shift + 1e-8 * (1.0 + exact.minimiser.norm()));
      EXPECT_EQ(found[k].kappa, exact.kappa);
      EXPECT_GE(found[k].lipschitz, exact.lipschitz * (1 - 1e-10));
      EXPECT_LE(own.gradient(found[k].minimiser).norm(), found[k].gradient_norm);
    }
  }
}

TEST(Classification, GapsBoundTheDifferenceOfTheGradients) {
  for (unsigned seed = 0; seed < 1000; ++seed) {
    SCOPED_TRACE(seed);
    RandomProblem random(seed + 90000);
    const auto problem = random_problem(random);
    const ClassificationFit fit(problem);
    const Neighbour neighbour = random_neighbour(random, problem);
    const auto own = problem.neighbour(neighbour.row, neighbour.replacement);
    const GradientGap gap = fit.gap(neighbour);
    const auto difference = [&](const VectorXd& w) {
      return VectorXd(problem.gradient(w) - own.gradient(w));
    };
    const double slack = 1e-11 * fit.convexity().lipschitz;
    EXPECT_NEAR(difference(fit.convexity().minimiser).norm(), gap.at_minimiser,
                slack + 1e-6 * gap.at_minimiser);
    EXPECT_LE(difference(fit.convexity().minimiser).norm(), gap.at_minimiser + slack * 1e-2);
    const VectorXd a = random.log_uniform(0.01, 30.0) * random.vector(problem.parameters());
    const VectorXd b = a + random.log_uniform(0.01, 3.0) * random.vector(problem.parameters());
    EXPECT_LE(difference(a).norm(), gap.everywhere + slack);
    EXPECT_LE((difference(a) - difference(b)).norm(), gap.lipschitz * (a - b).norm() + slack);
  }
}

}  // namespace
}  // namespace sfumato
