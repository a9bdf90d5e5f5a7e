#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>
#include <Eigen/LU>
#include <cmath>

#include "sfumato/core/infinity.hpp"
#include "sfumato/sde/contraction.hpp"
#include "sfumato/sde/family/callable.hpp"
#include "sfumato/sde/family/formula.hpp"
#include "sfumato/sde/family/linear.hpp"
#include "sfumato/sde/family/mixture.hpp"

namespace sfumato {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::Vector2d;
using Eigen::VectorXd;

VectorXd field(const Field& f, const VectorXd& at, double time = 0.0) {
  const Points point = at.transpose().array();
  Points out(1, at.size());
  f(time, point, out);
  return out.matrix().transpose();
}

VectorXd scalar(double x) { return VectorXd::Constant(1, x); }

template <class F>
std::string message(const F& f) {
  try {
    f();
  } catch (const Error& error) {
    return error.what();
  }
  return "accepted";
}

TEST(LinearDiffusion, DriftAndContraction) {
  const MatrixXd a = (MatrixXd(2, 2) << 2, 0.5, 0.5, 1).finished();
  const MatrixXd s = (MatrixXd(2, 2) << 1, 0.4, 0.4, 0.5).finished();
  const Diffusion diffusion = linear_diffusion({a, Vector2d(1, -1), Dense{s}});
  EXPECT_TRUE(
      field(diffusion.drift, Vector2d(0.3, 0.7)).isApprox(Vector2d(1 - 0.95, -1 - 0.85), 1e-14));
  EXPECT_NEAR(diffusion.contraction(Isotropic{2.0, 2}), 1.5 - std::sqrt(0.5), 1e-14);
  EXPECT_NE(constant_noise(diffusion), nullptr);
  // Many points, in whole and broken blocks, as one by one.
  const Points at = MatrixXd::Random(37, 2).array();
  Points out(37, 2);
  diffusion.drift(0.0, at, out);
  for (Index j = 0; j < 37; ++j) {
    EXPECT_EQ(VectorXd(out.row(j).matrix().transpose()),
              field(diffusion.drift, at.row(j).matrix().transpose()));
  }
  const Diffusion diagonal =
      linear_diffusion({Vector2d(2, 3).asDiagonal(), Vector2d(1, 1), Isotropic{1, 2}});
  EXPECT_TRUE(field(diagonal.drift, Vector2d(1, 2)).isApprox(Vector2d(-1, -5), 1e-15));
  EXPECT_THROW((void)linear_diffusion({a, VectorXd::Zero(3), Dense{s}}), InvalidArgument);
  EXPECT_THROW((void)linear_diffusion({MatrixXd::Random(2, 2), Vector2d(0, 0), Dense{s}}),
               InvalidArgument);
  EXPECT_THROW((void)linear_diffusion({a, Vector2d(0, kInf), Dense{s}}), InvalidArgument);
  EXPECT_THROW((void)linear_diffusion({a, Vector2d(0, 0), Isotropic{-1.0, 2}}), InvalidArgument);
}

TEST(FormulaDiffusion, ConstantAndStateDependentNoise) {
  const Diffusion constant =
      formula_diffusion({"x"}, {"x - x^3 + t"}, std::vector<std::string>{"0.64"});
  ASSERT_NE(constant_noise(constant), nullptr);
  EXPECT_EQ(dense(*constant_noise(constant))(0, 0), 0.64);
  EXPECT_NEAR(field(constant.drift, scalar(0.5), 2.0)(0), 0.5 - 0.125 + 2.0, 1e-15);
  EXPECT_NEAR(constant.contraction(Isotropic{1.0, 1}), -1.0, 1e-12);  // Db <= 1 everywhere

  const Diffusion varying =
      formula_diffusion({"x"}, {"-x"}, std::vector<std::string>{"1 + 0.5/(1 + x^2)"});
  const auto* noise = std::get_if<DiagonalNoise>(&varying.noise);
  ASSERT_NE(noise, nullptr);
  const double x = 0.7;
  EXPECT_DOUBLE_EQ(field(noise->variances, scalar(x))(0), 1 + 0.5 / (1 + x * x));
  EXPECT_DOUBLE_EQ(field(noise->divergence, scalar(x))(0), -x / std::pow(1 + x * x, 2));
  EXPECT_EQ(varying.contraction(Isotropic{1.0, 1}), 1.0);
}

TEST(FormulaDiffusion, FullMatrixNoise) {
  const std::vector<std::vector<std::string>> rows{{"1 + x^2", "0.5 x y"}, {"0.5 x y", "1 + y^2"}};
  const Diffusion diffusion = formula_diffusion({"x", "y"}, {"-x + y", "-2y"}, rows);
  const auto& noise = std::get<MatrixNoise>(diffusion.noise);
  const Vector2d at(0.3, 0.7);
  const MatrixXd expected = (MatrixXd(2, 2) << 1.09, 0.105, 0.105, 1.49).finished();
  EXPECT_TRUE(noise.covariance(0.0, at).isApprox(expected, 1e-15));
  EXPECT_TRUE(noise.divergence(0.0, at).isApprox(Vector2d(2.5 * 0.3, 2.5 * 0.7), 1e-15));
  // Linear: minus the Jacobian is [[1, -1], [0, 2]].
  EXPECT_NEAR(diffusion.contraction(Isotropic{1.0, 2}), 1.5 - std::sqrt(0.5), 1e-14);

  const std::vector<std::vector<std::string>> plain{{"1", "0.5"}, {"0.5", "1"}};
  EXPECT_NE(constant_noise(formula_diffusion({"x", "y"}, {"-x", "-y"}, plain)), nullptr);
}

TEST(FormulaDiffusion, PotentialByExactDerivatives) {
  const std::string well = "x^4/4 - x^2/2 + (y - x/2)^2";
  const Diffusion diffusion = potential_diffusion({"x", "y"}, well, Covariance{Isotropic{0.5, 2}});
  const double x = 0.7;
  const double y = -0.4;
  EXPECT_TRUE(field(diffusion.drift, Vector2d(x, y))
                  .isApprox(Vector2d(x - x * x * x + (y - x / 2), -2 * (y - x / 2)), 1e-14));
  const Diffusion quadratic =
      potential_diffusion({"x"}, "3 (x - 1)^2", Covariance{Isotropic{0.5, 1}});
  EXPECT_DOUBLE_EQ(quadratic.contraction(Isotropic{1.0, 1}), 6.0);
}

TEST(FormulaDiffusion, Refusals) {
  const Covariance one = Isotropic{1.0, 1};
  const Where where = Where::at("problem.toml", 3);
  EXPECT_NE(message([&] {
              (void)formula_diffusion({"x"}, {"y"}, one, where);
            }).find("problem.toml:3: formula \"y\", column 1"),
            std::string::npos);
  EXPECT_NE(message([&] {
              (void)formula_diffusion({"x"}, {"x", "x"}, one, where);
            }).find("problem.toml:3"),
            std::string::npos);
  EXPECT_NE(message([&] {
              (void)formula_diffusion({"x", "t"}, {"x", "x"}, one, where);
            }).find("a coordinate is named \"t\", which is the time"),
            std::string::npos);
  EXPECT_NE(message([&] { (void)formula_diffusion({}, {}, one, where); }).find("no coordinates"),
            std::string::npos);
  EXPECT_THROW((void)formula_diffusion({"x"}, {"x"}, Covariance{Isotropic{1.0, 2}}),
               InvalidArgument);
  EXPECT_THROW((void)formula_diffusion({"x"}, {"x"}, std::vector<std::string>{"-1"}),
               InvalidArgument);
  EXPECT_THROW((void)formula_diffusion({"x"}, {"x"}, std::vector<std::string>{"1", "2"}),
               InvalidArgument);
  const std::vector<std::vector<std::string>> skew{{"1 + x^2", "x"}, {"y", "1"}};
  EXPECT_NE(message([&] {
              (void)formula_diffusion({"x", "y"}, {"x", "y"}, skew);
            }).find("the noise is not symmetric: entries (2, 1) and (1, 2)"),
            std::string::npos);
  EXPECT_EQ(coordinate_names(1), std::vector<std::string>{"x"});
  EXPECT_EQ(coordinate_names(2), (std::vector<std::string>{"x", "y"}));
  EXPECT_EQ(coordinate_names(3), (std::vector<std::string>{"x1", "x2", "x3"}));
}

GaussianMixture two_wells(double distance, double variance) {
  return {{0.5, 0.5},
          {{scalar(-distance / 2), Isotropic{variance, 1}},
           {scalar(distance / 2), Isotropic{variance, 1}}}};
}

TEST(MixtureDiffusion, OneComponentIsLinear) {
  const MatrixXd c = (MatrixXd(2, 2) << 1, 0.4, 0.4, 0.5).finished();
  const GaussianMixture mixture{{3.0}, {{Vector2d(1, 2), Dense{c}}}};
  const Diffusion diffusion = mixture_diffusion(mixture, 0.8, 0.1);
  const Vector2d at(0.3, -0.6);
  const Vector2d expected = -0.4 * c.inverse() * (at - Vector2d(1, 2)) - 0.1 * at;
  EXPECT_TRUE(field(diffusion.drift, at).isApprox(expected, 1e-13));
  const auto bounds = mixture_hessian_bounds(mixture, 0.8, 0.1);
  ASSERT_TRUE(bounds);
  const VectorXd values = Eigen::SelfAdjointEigenSolver<MatrixXd>(c).eigenvalues();
  EXPECT_NEAR(bounds->kappa, 0.1 + 0.4 / values(1), 1e-10);
  EXPECT_NEAR(bounds->lipschitz, 0.1 + 0.4 / values(0), 1e-10);
}

TEST(MixtureDiffusion, SymmetricWellsInClosedForm) {
  // -log mixture = x^2/(2v) - log cosh(a x/v) with means +-a: f' = s/2 (x/v - a/v tanh(a x/v)).
  const double a = 1.5;
  const double v = 0.7;
  const double s = 0.6;
  const Diffusion diffusion = mixture_diffusion(two_wells(2 * a, v), s);
  for (const double x : {-60.0, -1.3, 0.0, 0.4, 2.0, 1e3}) {
    EXPECT_NEAR(field(diffusion.drift, scalar(x))(0),
                -s / 2 * (x / v - a / v * std::tanh(a * x / v)), 1e-12 * (1 + std::abs(x)));
  }
  // The least curvature is at x = 0, where Popoviciu's bound is attained.
  EXPECT_NEAR(diffusion.contraction(Isotropic{1, 1}), s / 2 * (1 / v - a * a / (v * v)), 1e-10);
}

TEST(MixtureDiffusion, UnequalCovariancesHaveNoConstant) {
  const GaussianMixture mixture{{1.0, 2.0},
                                {{scalar(0), Isotropic{1, 1}}, {scalar(0), Isotropic{2, 1}}}};
  EXPECT_FALSE(mixture_hessian_bounds(mixture, 1.0, 0.0));
  EXPECT_FALSE(mixture_diffusion(mixture, 1.0).contraction);
}

TEST(MixtureDiffusion, Refusals) {
  EXPECT_THROW((void)mixture_diffusion({}, 1.0), InvalidArgument);
  GaussianMixture mixture = two_wells(1, 1);
  EXPECT_THROW((void)mixture_diffusion(mixture, 0.0), InvalidArgument);
  EXPECT_THROW((void)mixture_diffusion(mixture, 1.0, -1.0), InvalidArgument);
  mixture.weights[0] = 0.0;
  EXPECT_THROW((void)mixture_diffusion(mixture, 1.0), InvalidArgument);
  mixture.weights = {1.0};
  EXPECT_THROW((void)mixture_diffusion(mixture, 1.0), InvalidArgument);
  EXPECT_THROW((void)mixture_diffusion(two_wells(1, 0.0), 1.0), NumericalFailure);
  GaussianMixture mixed = two_wells(1, 1);
  mixed.components[1] = {Vector2d(0, 0), Isotropic{1, 2}};
  EXPECT_THROW((void)mixture_diffusion(mixed, 1.0), InvalidArgument);
}

TEST(CallableDiffusion, DriftAndNumericalDivergence) {
  const auto drift = [](double time, const VectorXd& x) { return VectorXd(-time * x); };
  const auto covariance = [](double, const VectorXd& x) {
    return MatrixXd(
        (MatrixXd(2, 2) << 1 + x(0) * x(0), 0.5 * x(0) * x(1), 0.5 * x(0) * x(1), 1 + x(1) * x(1))
            .finished());
  };
  const Diffusion diffusion = diffusion_from(2, drift, with_numerical_divergence(covariance));
  const Vector2d at(0.3, 100.0);
  EXPECT_TRUE(field(diffusion.drift, at, 2.0).isApprox(-2.0 * at, 1e-15));
  const auto& noise = std::get<MatrixNoise>(diffusion.noise);
  EXPECT_TRUE(noise.divergence(0.0, at).isApprox(2.5 * at, 1e-6));
  EXPECT_FALSE(diffusion.contraction);
  EXPECT_THROW((void)diffusion_from(0, drift, Isotropic{1, 1}), InvalidArgument);
  EXPECT_THROW((void)diffusion_from(1, nullptr, Isotropic{1, 1}), InvalidArgument);
  EXPECT_THROW((void)diffusion_from(2, drift, Isotropic{1, 1}), InvalidArgument);
  EXPECT_THROW((void)diffusion_from(1, drift, Isotropic{-1, 1}), InvalidArgument);
  EXPECT_THROW((void)with_numerical_divergence(covariance, 0.0), InvalidArgument);
  EXPECT_THROW((void)with_numerical_divergence(nullptr), InvalidArgument);
}

}  // namespace
}  // namespace sfumato
