#include "sfumato/math/entries.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace sfumato {
namespace {

using Eigen::Matrix2d;
using Eigen::MatrixXd;
using Eigen::Vector2d;

TEST(RequireSymmetric, SymmetrisesRoundingAndRefusesTheRest) {
  const MatrixXd nearly = (Matrix2d() << 1, 2, 2 + 1e-12, 1).finished();
  const MatrixXd fixed = require_symmetric("A", nearly);
  EXPECT_EQ(fixed(0, 1), fixed(1, 0));
  EXPECT_THROW((void)require_symmetric("A", (Matrix2d() << 1, 2, 2.1, 1).finished()),
               InvalidArgument);
  EXPECT_THROW((void)require_symmetric("A", (Matrix2d() << 1, NAN, 2, 1).finished()),
               InvalidArgument);
  EXPECT_THROW((void)require_symmetric("A", (Matrix2d() << 1, 2, INFINITY, 1).finished()),
               InvalidArgument);
  EXPECT_THROW((void)require_symmetric("A", MatrixXd(0, 0)), InvalidArgument);
}

TEST(RequireFiniteEntries, NamesTheEntry) {
  try {
    require_finite_entries("x", Vector2d(0, NAN));
    FAIL();
  } catch (const InvalidArgument& error) {
    EXPECT_NE(std::string(error.what()).find("entry 2 of x is nan, not a finite number"),
              std::string::npos)
        << error.what();
  }
}

}  // namespace
}  // namespace sfumato
