#include "sfumato/sde/problem/triangularise.hpp"

#include <gtest/gtest.h>

#include <atomic>

namespace sfumato {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;

/// Counts how often it was looked at, and asks to stop at some look.
struct Counting final : Observer {
  explicit Counting(int last = 1 << 30) : last_look(last) {}
  [[nodiscard]] bool stop_requested() const override { return ++looks >= last_look; }
  int last_look;
  mutable std::atomic<int> looks = 0;
};

/// Entries without pattern, the same everywhere.
template <class T>
MatrixOf<T> table(Index rows, Index columns) {
  MatrixOf<T> result(rows, columns);
  std::uint64_t state = 1;
  for (T& entry : result.reshaped()) {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    entry = static_cast<T>(state >> 40U) / T(1U << 24U) - T(0.5);
  }
  return result;
}

template <class T>
void expect_triangle(Index rows, Index columns, Index more, T tolerance) {
  const MatrixOf<T> given = table<T>(rows, columns + more);
  MatrixOf<T> reduced = given;
  triangularise(reduced, columns, Observer());
  const Index steps = std::min(rows, columns);
  const MatrixOf<T> r =
      reduced.topLeftCorner(steps, columns).template triangularView<Eigen::Upper>();
  const MatrixOf<T> gram = given.leftCols(columns).transpose() * given.leftCols(columns);
  EXPECT_LT((r.transpose() * r - gram).norm() / gram.norm(), tolerance);
  // The same rotation of the other columns: R^T (Q^T b) = A^T b, and lengths are kept.
  const MatrixOf<T> b = given.rightCols(more);
  const MatrixOf<T> rotated = reduced.rightCols(more);
  const MatrixOf<T> moments = given.leftCols(columns).transpose() * b;
  EXPECT_LT((r.transpose() * rotated.topRows(steps) - moments).norm() / gram.norm(), tolerance);
  EXPECT_LT((rotated.colwise().norm() - b.colwise().norm()).norm(), T(100) * tolerance);
}

TEST(Triangularise, IsTheFactorOfTheGramMatrix) {
  for (const auto& [rows, columns] :
       {std::pair{1, 1}, {5, 3}, {3, 5}, {48, 48}, {49, 49}, {130, 97}}) {
    expect_triangle<double>(rows, columns, 2, 1e-14);
    expect_triangle<long double>(rows, columns, 1, 1e-17L);
  }
}

TEST(Triangularise, LooksAtTheObserverInEveryPanelAndStops) {
  MatrixXd wide = table<double>(300, 201);
  const Counting all;
  triangularise(wide, 200, all);
  EXPECT_GE(all.looks, 5);  // panels of 48 columns, and the columns behind them
  MatrixXd again = table<double>(300, 201);
  const Counting third(3);
  EXPECT_THROW(triangularise(again, 200, third), Stopped);
  EXPECT_EQ(third.looks, 3);
}

}  // namespace
}  // namespace sfumato
