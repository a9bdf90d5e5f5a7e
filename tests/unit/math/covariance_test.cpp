#include "sfumato/math/covariance.hpp"

#include <gtest/gtest.h>

#include <Eigen/LU>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "sfumato/core/infinity.hpp"
#include "support/random_pairs.hpp"

namespace sfumato {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

template <class... Values>
VectorXd vector(Values... values) {
  VectorXd v(sizeof...(values));
  Eigen::Index i = 0;
  ((v(i++) = values), ...);
  return v;
}

/// GCC 12 takes the members of a temporary Factored for uninitialised; moved ones it follows.
Covariance factored(VectorXd diagonal, MatrixXd factor) {
  return Factored{std::move(diagonal), std::move(factor)};
}

MatrixXd square(double a, double b, double c, double d) {
  return (MatrixXd(2, 2) << a, b, c, d).finished();
}

std::string refusal(const Covariance& covariance) {
  try {
    (void)require_covariance("noise", covariance, Where::at("problem.toml", 7, 3));
  } catch (const InvalidArgument& error) {
    return error.what();
  }
  return "accepted";
}

TEST(RequireCovariance, AcceptsEveryKindAndSingularOnes) {
  EXPECT_EQ(refusal(Isotropic{0.0, 3}), "accepted");
  EXPECT_EQ(refusal(Diagonal{vector(0.0, 2.0)}), "accepted");
  EXPECT_EQ(refusal(factored(vector(0.0, 2.0), MatrixXd::Ones(2, 1))), "accepted");
  EXPECT_EQ(refusal(Dense{square(1, 1, 1, 1)}), "accepted");
  EXPECT_EQ(refusal(Dense{MatrixXd::Zero(2, 2)}), "accepted");
  EXPECT_EQ(refusal(Dense{MatrixXd(0, 0)}), "accepted");
}

TEST(RequireCovariance, NamesTheBadVariance) {
  EXPECT_EQ(refusal(Isotropic{-1.0, 3}),
            "problem.toml:7:3: noise = -1 is not a finite variance >= 0. "
            "Give variances, not standard deviations with a sign.");
  EXPECT_NE(refusal(Isotropic{kNan, 3}).find("noise = nan"), std::string::npos);
  EXPECT_NE(refusal(Diagonal{vector(1.0, -2.5)}).find("entry 2 of noise = -2.5"),
            std::string::npos);
  EXPECT_NE(refusal(Diagonal{vector(1.0, kInf)}).find("entry 2 of noise = inf"), std::string::npos);
  EXPECT_NE(refusal(factored(vector(-1.0, 1.0), MatrixXd::Ones(2, 1)))
                .find("entry 1 of noise = -1 is not"),
            std::string::npos);
}

TEST(RequireCovariance, NamesThePositionOfNan) {
  MatrixXd m = MatrixXd::Identity(3, 3);
  m(2, 1) = kNan;
  EXPECT_NE(refusal(Dense{m}).find("entry 2 of row 3 of noise is nan"), std::string::npos);
  MatrixXd f = MatrixXd::Ones(2, 2);
  f(0, 1) = kInf;
  EXPECT_NE(refusal(factored(vector(1.0, 1.0), f)).find("entry 2 of row 1 of noise is inf"),
            std::string::npos);
}

TEST(RequireCovariance, NamesShapesThatDoNotFit) {
  EXPECT_NE(refusal(Dense{MatrixXd::Ones(2, 3)}).find("noise is 2 x 3, not a square"),
            std::string::npos);
  EXPECT_NE(refusal(factored(vector(1.0, 1.0), MatrixXd::Ones(3, 1)))
                .find("noise has a diagonal of 2 and a factor of 3 rows"),
            std::string::npos);
}

TEST(RequireCovariance, NamesTheAsymmetricEntries) {
  const std::string message = refusal(Dense{square(1.0, 0.25, 0.5, 1.0)});
  EXPECT_TRUE(message.find("noise is not symmetric: entry 1 of row 2 is 0.5, entry 2 of row 1 is "
                           "0.25") != std::string::npos)
      << message;
}

TEST(RequireCovariance, SymmetrisesRoundingAndNotMore) {
  const Covariance rounded = require_covariance("noise", Dense{square(1.0, 0.5, 0.5 + 1e-10, 1.0)});
  EXPECT_EQ(dense(rounded)(0, 1), dense(rounded)(1, 0));
  EXPECT_NE(refusal(Dense{square(1.0, 0.5, 0.5 + 1e-8, 1.0)}), "accepted");
}

TEST(RequireCovariance, NamesTheNegativeEigenvalue) {
  EXPECT_NE(refusal(Dense{square(1.0, 2.0, 2.0, 1.0)})
                .find("noise is not positive semi-definite: its smallest eigenvalue is -1 "
                      "(the largest is 3)"),
            std::string::npos);
  EXPECT_NE(refusal(Dense{square(-1.0, 0.0, 0.0, 1.0)}), "accepted");
  EXPECT_EQ(refusal(Dense{square(1.0, 1.0, 1.0, 1.0 - 1e-13)}), "accepted");
}

TEST(Covariance, SingularOnesHaveNoInverse) {
  const MatrixXd one = MatrixXd::Ones(2, 1);
  const Covariance singular[] = {Isotropic{0.0, 2}, Diagonal{vector(0.0, 1.0)},
                                 factored(vector(0.0, 0.0), one), Dense{square(1, 1, 1, 1)},
                                 Dense{MatrixXd::Zero(2, 2)}};
  for (const Covariance& c : singular) {
    SCOPED_TRACE(c.index());
    EXPECT_THROW((void)solve(c, one), NumericalFailure);
    EXPECT_EQ(log_det(c), -kInf);
    EXPECT_NO_THROW((void)root(c));
  }
}

TEST(Covariance, RankDeficientUpToRoundingIsSingular) {
  // F F^T has exact rank 3; its last pivots are rounding noise of either sign.
  testing::RandomPairs random(5);
  for (int i = 0; i < 300; ++i) {
    SCOPED_TRACE(::testing::Message() << "seed 5 case " << i);
    const MatrixXd factor = random.matrix(6, 3) * random.log_uniform(1e-10, 1e10);
    for (const Covariance& c :
         {Covariance(Dense{factor * factor.transpose()}), factored(VectorXd::Zero(6), factor)}) {
      EXPECT_THROW((void)solve(c, random.vector(6)), NumericalFailure);
      EXPECT_EQ(log_det(c), -kInf);
    }
  }
}

TEST(Covariance, GradedScalesAreNotSingular) {
  const VectorXd scale = vector(1e-10, 1.0, 1e10);
  const MatrixXd correlation =
      (MatrixXd(3, 3) << 1.0, 0.5, 0.1, 0.5, 1.0, -0.3, 0.1, -0.3, 1.0).finished();
  const Covariance graded = Dense{scale.asDiagonal() * correlation * scale.asDiagonal()};
  EXPECT_NEAR(log_det(graded), std::log(correlation.determinant()), 1e-13);
  const VectorXd x = solve(graded, scale);  // = S^-1 correlation^-1 1
  const VectorXd expected = correlation.inverse().rowwise().sum().cwiseQuotient(scale);
  EXPECT_LT((x - expected).cwiseQuotient(expected).cwiseAbs().maxCoeff(), 1e-13);
}

TEST(Covariance, FactoredWithPartlyZeroDiagonalIsRegularWhenTheFactorFillsIt) {
  const Covariance c = factored(vector(0.0, 2.0), (MatrixXd(2, 1) << 3.0, 1.0).finished());
  EXPECT_NEAR(log_det(c), std::log(18.0), 1e-14);  // [[9, 3], [3, 3]]
  const MatrixXd inverse = solve(c, MatrixXd::Identity(2, 2));
  EXPECT_LT((inverse * dense(c) - MatrixXd::Identity(2, 2)).norm(), 1e-14);
}

TEST(Covariance, DimensionsAndScaling) {
  EXPECT_EQ(dimension(Isotropic{2.0, 4}), 4);
  EXPECT_EQ(dimension(factored(vector(1.0, 2.0), MatrixXd(2, 0))), 2);
  EXPECT_EQ(trace(Isotropic{2.0, 4}), 8.0);
  const Covariance twice = scaled(factored(vector(1.0, 2.0), MatrixXd::Ones(2, 1)), 2.0);
  ASSERT_TRUE(std::holds_alternative<Factored>(twice));
  EXPECT_LT((dense(twice) - square(4, 2, 2, 6)).norm(), 1e-14);
  EXPECT_EQ(trace(scaled(Dense{square(1, 0, 0, 1)}, 0.0)), 0.0);
}

TEST(Covariance, DefinitenessOfEachKind) {
  EXPECT_TRUE(is_definite(Isotropic{1e-300, 2}));
  EXPECT_FALSE(is_definite(Isotropic{0.0, 2}));
  EXPECT_TRUE(is_definite(Diagonal{vector(1e-20, 1.0)}));
  EXPECT_FALSE(is_definite(Diagonal{vector(0.0, 1.0)}));
  EXPECT_FALSE(is_definite(Dense{square(1, 1, 1, 1)}));
  EXPECT_TRUE(is_definite(factored(vector(0.0, 2.0), MatrixXd::Ones(2, 1))));
  EXPECT_FALSE(is_definite(factored(vector(0.0, 2.0), MatrixXd(2, 0))));
}

TEST(Covariance, SameMatrixWhateverTheKind) {
  EXPECT_TRUE(same_matrix(Isotropic{2.0, 2}, Isotropic{2.0, 2}));
  EXPECT_FALSE(same_matrix(Isotropic{2.0, 2}, Isotropic{2.0, 3}));
  EXPECT_FALSE(same_matrix(Isotropic{2.0, 2}, Isotropic{2.5, 2}));
  EXPECT_TRUE(same_matrix(Isotropic{2.0, 2}, Dense{square(2, 0, 0, 2)}));
  EXPECT_TRUE(same_matrix(Diagonal{vector(1.0, 2.0)}, Dense{square(1, 0, 0, 2)}));
  EXPECT_FALSE(same_matrix(Diagonal{vector(1.0, 2.0)}, Dense{square(1, 0.1, 0.1, 2)}));
  EXPECT_TRUE(
      same_matrix(factored(vector(1.0, 2.0), MatrixXd::Ones(2, 1)), Dense{square(2, 1, 1, 3)}));
  EXPECT_TRUE(same_matrix(factored(vector(1.0, 2.0), MatrixXd(2, 0)), Diagonal{vector(1.0, 2.0)}));
}

TEST(Covariance, DiagonalAndIsotropicMatrices) {
  EXPECT_TRUE(is_diagonal(Isotropic{1.0, 3}));
  EXPECT_TRUE(is_diagonal(Dense{square(1, 0, 0, 2)}));
  EXPECT_FALSE(is_diagonal(Dense{square(1, 1e-300, 1e-300, 2)}));
  EXPECT_TRUE(is_diagonal(factored(vector(1.0, 2.0), MatrixXd(2, 0))));
  EXPECT_TRUE(is_diagonal(factored(vector(1.0, 2.0), MatrixXd::Identity(2, 2))));
  EXPECT_FALSE(is_diagonal(factored(vector(1.0, 2.0), MatrixXd::Ones(2, 1))));
  EXPECT_EQ(isotropic_variance(Isotropic{3.0, 2}), 3.0);
  EXPECT_EQ(isotropic_variance(Diagonal{vector(3.0, 3.0)}), 3.0);
  EXPECT_EQ(isotropic_variance(factored(vector(1.0, 1.0), MatrixXd::Identity(2, 2))), 2.0);
  EXPECT_EQ(isotropic_variance(Diagonal{vector(3.0, 3.1)}), std::nullopt);
  EXPECT_EQ(isotropic_variance(Dense{square(1, 0.5, 0.5, 1)}), std::nullopt);
  EXPECT_EQ(isotropic_variance(Isotropic{0.0, 2}), std::nullopt);
}

}  // namespace
}  // namespace sfumato
