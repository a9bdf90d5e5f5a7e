#include <fmt/format.h>
#include <gtest/gtest.h>

#include <Eigen/Cholesky>
#include <cmath>
#include <random>

#include "sfumato/data/regression_table.hpp"
#include "support/temp_dir.hpp"

/// Distributions of tables with categories, over seeded random tables.
namespace sfumato {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

struct RandomTable {
  std::vector<double> x;
  std::vector<int> job;   ///< 0 .. 3
  std::vector<int> flag;  ///< 0, 1
  std::vector<double> y;
};

RandomTable random_table(unsigned seed) {
  std::mt19937 engine(seed);
  std::normal_distribution<double> normal;
  RandomTable table;
  for (int row = 0; row < 40; ++row) {
    table.x.push_back(normal(engine));
    table.job.push_back(row < 4 ? row : static_cast<int>(engine() % 4));
    table.flag.push_back(row < 2 ? row : static_cast<int>(engine() % 2));
    table.y.push_back(table.x.back() + 0.5 * table.job.back() + normal(engine));
  }
  return table;
}

std::string text_of(const RandomTable& table, const std::vector<std::string>& jobs,
                    const std::vector<std::string>& flags) {
  std::string text = "x,job,flag,y\n";
  for (std::size_t i = 0; i < table.x.size(); ++i) {
    text += fmt::format("{},{},{},{}\n", table.x[i], jobs[static_cast<std::size_t>(table.job[i])],
                        flags[static_cast<std::size_t>(table.flag[i])], table.y[i]);
  }
  return text;
}

RegressionInput read(const TempDir& dir, const std::string& text,
                     const std::string& reference = "") {
  put(dir / "t.csv", text);
  RegressionColumns columns;
  columns.target = "y";
  if (!reference.empty()) columns.references = {{"job", reference}};
  return read_regression(dir / "t.csv", columns, {}, "");
}

VectorXd least_squares_fit(const RegressionInput& input) {
  const MatrixXd& x = input.features;
  return x * (x.transpose() * x).ldlt().solve(x.transpose() * input.target);
}

TEST(CodedTable, TheReferenceLevelDoesNotChangePredictionsWithoutPenalty) {
  const TempDir dir;
  for (unsigned seed = 1; seed <= 10; ++seed) {
    const std::string text =
        text_of(random_table(seed), {"clerk", "smith", "baker", "guard"}, {"no", "yes"});
    const VectorXd fit = least_squares_fit(read(dir, text));
    for (const char* reference : {"clerk", "smith", "guard"}) {
      const double gap = (least_squares_fit(read(dir, text, reference)) - fit).norm();
      EXPECT_LT(gap, 1e-10) << "seed " << seed << " " << reference;
    }
  }
}

TEST(CodedTable, NamesOfLevelsDoNotMatterWhileTheirOrderStays) {
  const TempDir dir;
  for (unsigned seed = 1; seed <= 10; ++seed) {
    const RandomTable table = random_table(seed);
    const RegressionInput one = read(dir, text_of(table, {"a", "b", "c", "d"}, {"no", "yes"}));
    const RegressionInput other =
        read(dir, text_of(table, {"\"a, b\"", "b", "c c", "\xC3\xA9"}, {"False", "True"}));
    EXPECT_EQ(one.features, other.features) << "seed " << seed;
    const RegressionInput numbers = read(dir, text_of(table, {"a", "b", "c", "d"}, {"0", "1"}));
    EXPECT_EQ(one.features, numbers.features) << "seed " << seed;
  }
}

TEST(CodedTable, IndicatorsOfALevelAddUpToItsRows) {
  const TempDir dir;
  for (unsigned seed = 1; seed <= 10; ++seed) {
    const RegressionInput input =
        read(dir, text_of(random_table(seed), {"a", "b", "c", "d"}, {"no", "yes"}));
    const ColumnCoding& job = input.codings[1];
    for (std::size_t level = 1; level < job.levels.size(); ++level) {
      EXPECT_EQ(input.features.col(static_cast<Eigen::Index>(level)).sum(),
                static_cast<double>(job.counts[level]));
    }
  }
}

}  // namespace
}  // namespace sfumato
