// Spec §12.1: the paths. Statistical comparisons are at 5 standard errors, 5.7e-7 each.
#include "sfumato/sde/simulate.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>

#include "sfumato/core/error.hpp"
#include "sfumato/sde/linear_drift.hpp"
#include "sfumato/sde/point_kernels.hpp"

namespace sfumato {
namespace {

using Eigen::Index;
using Eigen::Matrix2d;
using Eigen::MatrixXd;
using Eigen::Vector2d;
using Eigen::VectorXd;

const Matrix2d kA = (Matrix2d() << 1.0, 0.4, 0.4, 2.0).finished();
const Vector2d kPull(0.5, -1.0);
const Matrix2d kSigma = (Matrix2d() << 1.0, 0.3, 0.3, 0.5).finished();

GaussianDistribution start2() {
  return {Vector2d(1.0, -0.5), Dense{(Matrix2d() << .3, .1, .1, .2).finished()}};
}

Diffusion ou(Noise noise) { return {2, linear_drift(kA, kPull), std::move(noise)}; }

/// The same constant Sigma in each of the shapes a diffusion can have.
std::vector<Noise> shapes_of(const Vector2d& variances) {
  const MatrixXd sigma = variances.asDiagonal();
  return {Covariance(Diagonal{variances}), Covariance(Dense{sigma}),
          DiagonalNoise{[=](double, const ConstPoints& at, MutablePoints out) {
                          out = variances.transpose().array().replicate(at.rows(), 1);
                        },
                        {}},
          MatrixNoise{[=](double, const VectorXd&) { return sigma; }, {}}};
}

Simulation run(const Diffusion& diffusion, std::uint64_t paths, unsigned threads = 1,
               std::uint64_t seed = 1) {
  Observer silent;
  return simulate(diffusion, start2(), {{0.0, 0.3, 1.0}, 0.1}, {paths, {seed, 0}, threads}, silent);
}

TEST(Simulate, PathsDoNotDependOnThreadsOrOnHowManyThereAre) {
  for (const Noise& noise : shapes_of(Vector2d(1.0, 0.5))) {
    const Simulation whole = run(ou(noise), 1700, 1);
    ASSERT_EQ(whole.paths, 1700U);
    const Simulation threaded = run(ou(noise), 1700, 3);
    const Simulation part = run(ou(noise), 777, 2);
    for (std::size_t t = 0; t < 3; ++t) {
      const Points& expected = whole.clouds[t].points;
      EXPECT_TRUE((threaded.clouds[t].points == expected).all()) << noise.index();
      EXPECT_TRUE((part.clouds[t].points == expected.topRows(777)).all()) << noise.index();
    }
    EXPECT_FALSE(
        (run(ou(noise), 10, 1, 2).clouds[0].points == whole.clouds[0].points.topRows(10)).any());
  }
}

TEST(Simulate, AllShapesOfOneNoiseGiveTheSamePaths) {
  const auto shapes = shapes_of(Vector2d(1.0, 0.5));
  const Points expected = run(ou(shapes[0]), 300).clouds.back().points;
  for (const Noise& noise : shapes) {
    EXPECT_LT((run(ou(noise), 300).clouds.back().points - expected).abs().maxCoeff(), 1e-13)
        << noise.index();
  }
}

/// Mean and covariance of the Euler chain of kA, kPull, exactly.
GaussianDistribution chain_distribution(const MatrixXd& sigma, int steps, double h) {
  const MatrixXd m = MatrixXd::Identity(2, 2) - h * kA;
  VectorXd mean = start2().mean;
  MatrixXd cov = dense(start2().covariance);
  for (int k = 0; k < steps; ++k) {
    mean = (m * mean + h * kPull).eval();
    cov = (m * cov * m.transpose() + h * sigma).eval();
  }
  return {mean, Dense{cov}};
}

// 5 comparisons for each of 3 noises: false alarm 9e-6.
TEST(Simulate, MomentsOfTheChain) {
  const std::uint64_t paths = 100000;
  const Eigen::MatrixXd factor = (MatrixXd(2, 1) << 0.6, 0.5).finished();
  const Noise factored = Covariance(Factored{Vector2d(0.64, 0.25), factor});
  const Noise per_point = MatrixNoise{[](double, const VectorXd&) { return kSigma; }, {}};
  for (const Noise& noise : {Noise(Covariance(Dense{kSigma})), factored, per_point}) {
    const MatrixXd sigma =
        noise.index() == 0 ? dense(std::get<Covariance>(noise)) : MatrixXd(kSigma);
    const Points x = run(ou(noise), paths, 0).clouds.back().points;
    const GaussianDistribution distribution = chain_distribution(sigma, 10, 0.1);
    const MatrixXd v = dense(distribution.covariance);
    const double n = static_cast<double>(paths);
    const MatrixXd gaps = x.matrix().rowwise() - distribution.mean.transpose();
    for (Index i = 0; i < 2; ++i) {
      EXPECT_NEAR(gaps.col(i).mean(), 0.0, 5.0 * std::sqrt(v(i, i) / n));
      for (Index j = 0; j <= i; ++j) {
        const double error = std::sqrt((v(i, i) * v(j, j) + v(i, j) * v(i, j)) / n);
        EXPECT_NEAR(gaps.col(i).dot(gaps.col(j)) / n, v(i, j), 5.0 * error) << i << j;
      }
    }
  }
}

TEST(Simulate, TimeReachesTheDrift) {
  // dX = t dt without noise: after steps of 0.1 to time 1 the left sums give 0.45.
  const Diffusion flow{
      1, [](double time, const ConstPoints&, MutablePoints out) { out.setConstant(time); },
      Isotropic{0.0, 1}};
  Observer silent;
  const Simulation result =
      simulate(flow, point_distribution(VectorXd::Zero(1)), {{0.5, 1.0}, 0.1}, {3, {}, 1}, silent);
  EXPECT_NEAR(result.clouds[0].points(2, 0), 0.1, 1e-15);
  EXPECT_NEAR(result.clouds[1].points(2, 0), 0.45, 1e-15);
}

// Euler-Maruyama on -x^3 explodes from |x| > sqrt(2 / h): here some starts are beyond, some not.
TEST(Simulate, DivergingPathsAreListedAndStayFinite) {
  const Diffusion steep{1, polynomial_drift({0.0, 0.0, 0.0, -1.0}), Isotropic{0.01, 1}};
  const GaussianDistribution wide{VectorXd::Zero(1), Isotropic{9.0, 1}};
  Observer silent;
  const Simulation result = simulate(steep, wide, {{0.0, 1.0, 50.0}, 0.5}, {2000, {}, 2}, silent);
  EXPECT_GT(result.diverged.size(), 300U);
  EXPECT_LT(result.diverged.size(), 1900U);
  for (const Cloud& cloud : result.clouds) {
    EXPECT_TRUE((cloud.points.abs() <= kDivergedBeyond).all());
  }
  std::vector<std::uint64_t> far;
  for (Index j = 0; j < 2000; ++j) {
    if (std::abs(result.clouds[0].points(j, 0)) > 2.5) far.push_back(static_cast<std::uint64_t>(j));
  }
  for (const std::uint64_t j : far) {
    EXPECT_TRUE(std::binary_search(result.diverged.begin(), result.diverged.end(), j)) << j;
  }
}

TEST(Simulate, NaNFromAFieldIsADivergedPath) {
  const Diffusion holes{1,
                        [](double, const ConstPoints& at, MutablePoints out) { out = at.sqrt(); },
                        Isotropic{1.0, 1}};
  Observer silent;
  const Simulation result = simulate(holes, point_distribution(VectorXd::Constant(1, 0.1)),
                                     {{1.0}, 0.1}, {500, {}, 1}, silent);
  EXPECT_GT(result.diverged.size(), 100U);
  EXPECT_TRUE(result.clouds[0].points.allFinite());
}

TEST(Simulate, StopsWithWholePaths) {
  struct Impatient : Observer {
    void progress(std::string_view, std::uint64_t done, std::uint64_t) override { seen = done; }
    [[nodiscard]] bool stop_requested() const override { return seen > 0; }
    std::atomic<std::uint64_t> seen{0};
  };
  Impatient observer;
  const Diffusion p = ou(Covariance(Isotropic{1.0, 2}));
  const Simulation result = simulate(p, start2(), {{1.0}, 0.1}, {100000, {}, 1}, observer);
  EXPECT_GT(result.paths, 0U);
  EXPECT_LT(result.paths, 100000U);
  EXPECT_EQ(result.clouds[0].points.rows(), static_cast<Index>(result.paths));
}

/// Asks to stop when the work has looked so often.
struct Patience : Observer {
  explicit Patience(int looks) : left(looks) {}
  [[nodiscard]] bool stop_requested() const override { return --left < 0; }
  mutable std::atomic<int> left;
};

TEST(Simulate, StopsBetweenTheStepsOfOnePath) {
  Patience observer(100);
  const Diffusion p = ou(Covariance(Isotropic{1.0, 2}));
  const Simulation result = simulate(p, start2(), {{1e9}, 0.1}, {3, {}, 1}, observer);
  EXPECT_EQ(result.paths, 0U);
  EXPECT_EQ(result.clouds[0].points.rows(), 0);
}

TEST(Simulate, Refusals) {
  Observer silent;
  const Diffusion good = ou(Covariance(Isotropic{1.0, 2}));
  const auto simulate_with = [&](const Diffusion& diffusion, const GaussianDistribution& start,
                                 std::uint64_t paths) {
    (void)simulate(diffusion, start, {{1.0}, 0.1}, {paths, {}, 1}, silent);
  };
  EXPECT_THROW(simulate_with(good, start2(), 0), InvalidArgument);
  EXPECT_THROW(simulate_with(good, point_distribution(VectorXd::Zero(3)), 5), InvalidArgument);
  EXPECT_THROW(simulate_with(good, point_distribution(VectorXd::Constant(2, HUGE_VAL)), 5),
               InvalidArgument);
  EXPECT_THROW(simulate_with(ou(Covariance(Isotropic{1.0, 3})), start2(), 5), InvalidArgument);
  EXPECT_THROW(simulate_with(ou(Covariance(Isotropic{-1.0, 2})), start2(), 5), InvalidArgument);
  EXPECT_THROW(simulate_with({0, good.drift, good.noise}, start2(), 5), InvalidArgument);
  const auto negative = [](double, const ConstPoints&, MutablePoints out) {
    out.setConstant(-1.0);
  };
  EXPECT_THROW(simulate_with(ou(DiagonalNoise{negative, negative}), start2(), 5), NumericalFailure);
  const auto indefinite = [](double, const VectorXd&) -> MatrixXd {
    return Vector2d(1.0, -1.0).asDiagonal();
  };
  EXPECT_THROW(simulate_with(ou(MatrixNoise{indefinite, {}}), start2(), 5), NumericalFailure);
  const auto small = [](double, const VectorXd&) -> MatrixXd { return MatrixXd::Identity(1, 1); };
  EXPECT_THROW(simulate_with(ou(MatrixNoise{small, {}}), start2(), 5), InvalidArgument);
}

}  // namespace
}  // namespace sfumato
