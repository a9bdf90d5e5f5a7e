#include "sfumato/sde/spectrum.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace sfumato {
namespace {

using Eigen::Matrix2d;
using Eigen::MatrixXd;
using Eigen::Vector2d;
using Eigen::VectorXd;

TEST(Spectrum, DiagonalMatricesKeepTheirEntriesInPlace) {
  const Spectrum s = spectrum_of((Matrix2d() << 1e-40, 0, 0, -3).finished());
  EXPECT_TRUE(s.is_diagonal());
  EXPECT_EQ(s.values, VectorXd(Vector2d(1e-40, -3)));
  EXPECT_EQ(s.to_eigenbasis(Vector2d(1, 2)), VectorXd(Vector2d(1, 2)));
  EXPECT_EQ(s.from_eigenbasis(Vector2d(1, 2)), VectorXd(Vector2d(1, 2)));
}

TEST(Spectrum, EigenvaluesAscendAndTheBasisIsOrthonormal) {
  const Spectrum s = spectrum_of((Matrix2d() << 2, 1, 1, 2).finished());
  EXPECT_NEAR(s.values(0), 1.0, 1e-15);
  EXPECT_NEAR(s.values(1), 3.0, 1e-15);
  const VectorXd x = Vector2d(0.3, -0.7);
  EXPECT_TRUE(s.from_eigenbasis(s.to_eigenbasis(x)).isApprox(x, 1e-15));
}

TEST(Spectrum, RoundingOfASingularMatrixIsZeroExactly) {
  VectorXd b(3);
  b << 0.1, 0.7, -1.3;
  const Spectrum s = spectrum_of(b * b.transpose());
  EXPECT_EQ(s.values(0), 0.0);
  EXPECT_EQ(s.values(1), 0.0);
  EXPECT_NEAR(s.values(2), b.squaredNorm(), 1e-14);
}

TEST(Spectrum, Rotated) {
  const Covariance c = Dense{(Matrix2d() << 2, 0.5, 0.5, 1).finished()};
  EXPECT_EQ(spectrum_of(Matrix2d(Vector2d(1, 3).asDiagonal())).rotated(c), dense(c));
  const Spectrum s = spectrum_of((Matrix2d() << 2, 1, 1, 2).finished());
  const MatrixXd back = s.vectors * s.rotated(c) * s.vectors.transpose();
  EXPECT_TRUE(back.isApprox(dense(c), 1e-14));
}

}  // namespace
}  // namespace sfumato
