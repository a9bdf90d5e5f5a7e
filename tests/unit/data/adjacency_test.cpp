// Spec §1.6: adjacency is explicit.
#include "sfumato/data/adjacency.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "unit/data/temp_dir.hpp"

namespace sfumato {
namespace {

Eigen::MatrixXd records() {
  Eigen::MatrixXd m(3, 2);
  m << 1, 2, 3, 4, 5, 6;
  return m;
}

TEST(Adjacency, Names) {
  EXPECT_EQ(name(Adjacency::remove), "remove");
  EXPECT_EQ(name(Adjacency::replace), "replace");
  EXPECT_EQ(parse_adjacency("remove"), Adjacency::remove);
  EXPECT_EQ(parse_adjacency("replace"), Adjacency::replace);
  EXPECT_EQ(
      message_of<InvalidArgument>([] { (void)parse_adjacency("replce", Where::in("p.toml")); }),
      "p.toml: the adjacency \"replce\" is unknown. Did you mean `replace`?");
  EXPECT_THROW((void)parse_adjacency(""), InvalidArgument);
}

TEST(Adjacency, RemoveLeavesTheOthersInOrder) {
  for (Eigen::Index row = 0; row < 3; ++row) {
    const Eigen::MatrixXd neighbours = neighbour(records(), remove_row(row));
    ASSERT_EQ(neighbours.rows(), 2);
    for (Eigen::Index i = 0; i < 2; ++i) {
      EXPECT_EQ(neighbours.row(i), records().row(i < row ? i : i + 1));
    }
  }
}

TEST(Adjacency, ReplaceChangesOneRow) {
  const Eigen::MatrixXd neighbours = neighbour(records(), replace_row(1, Eigen::Vector2d(7, 8)));
  Eigen::MatrixXd expected = records();
  expected.row(1) << 7, 8;
  EXPECT_EQ(neighbours, expected);
}

TEST(Adjacency, Refusals) {
  EXPECT_THROW((void)neighbour(records(), remove_row(3)), InvalidArgument);
  EXPECT_THROW((void)neighbour(records(), remove_row(-1)), InvalidArgument);
  EXPECT_THROW((void)neighbour(records().topRows(1), remove_row(0)), InvalidArgument);
  EXPECT_THROW((void)neighbour(records(), replace_row(0, Eigen::Vector3d::Zero())),
               InvalidArgument);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW((void)neighbour(records(), replace_row(0, Eigen::Vector2d(0, nan))),
               InvalidArgument);
  EXPECT_THROW((void)neighbour(records(), {Adjacency::remove, 0, Eigen::Vector2d(0, 0)}),
               InvalidArgument);
}

}  // namespace
}  // namespace sfumato
