#include "sfumato/sde/linear_drift.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "sfumato/core/error.hpp"

namespace sfumato {
namespace {

using Eigen::Index;

TEST(LinearDrift, AgreesWithEigenAndNotWithTheBlock) {
  for (const Index d : {1, 2, 4, 5, 6, 11}) {
    const Eigen::MatrixXd a = Eigen::MatrixXd::Random(d, d);
    const Eigen::VectorXd pull = Eigen::VectorXd::Random(d);
    const Field drift = linear_drift(a, pull);
    const Points x = Points::Random(29, d);
    Points out(29, d);
    drift(0.0, x, out);
    const Points expected = ((-a * x.matrix().transpose()).colwise() + pull).transpose().array();
    EXPECT_LT((out - expected).abs().maxCoeff(), 1e-13) << "d " << d;
    for (const Index rows : {1, 7, 8, 13}) {  // the same bits in any block
      Points part(rows, d);
      drift(0.0, x.middleRows(5, rows), part);
      EXPECT_TRUE((part == out.middleRows(5, rows)).all()) << "d " << d << " rows " << rows;
    }
  }
}

TEST(PolynomialDrift, Horner) {
  const Points x = Points::Random(37, 1);
  for (const std::vector<double>& c :
       {std::vector<double>{2.0}, {0.5, -1.0}, {0.0, 1.0, 0.0, -1.0}, {1.0, 2.0, 3.0, 4.0, 5.0}}) {
    Points out(37, 1);
    polynomial_drift(c)(0.0, x, out);
    for (Index j = 0; j < x.rows(); ++j) {
      double expected = 0.0;
      for (std::size_t k = 0; k < c.size(); ++k) {
        expected += c[k] * std::pow(x(j, 0), static_cast<double>(k));
      }
      EXPECT_NEAR(out(j, 0), expected, 1e-14);
    }
  }
}

TEST(LinearDrift, Refusals) {
  EXPECT_THROW((void)linear_drift(Eigen::MatrixXd(2, 3), Eigen::VectorXd::Zero(2)),
               InvalidArgument);
  EXPECT_THROW((void)linear_drift(Eigen::MatrixXd::Zero(2, 2), Eigen::VectorXd::Zero(3)),
               InvalidArgument);
  EXPECT_THROW(
      (void)linear_drift(Eigen::MatrixXd::Constant(2, 2, HUGE_VAL), Eigen::VectorXd::Zero(2)),
      InvalidArgument);
  EXPECT_THROW((void)polynomial_drift({}), InvalidArgument);
  EXPECT_THROW((void)polynomial_drift({1.0, std::nan("")}), InvalidArgument);
}

}  // namespace
}  // namespace sfumato
