#pragma once

#include <Eigen/Core>
#include <cmath>
#include <random>
#include <string>

#include "sfumato/fit/bounded_rows.hpp"
#include "sfumato/fit/private_fit.hpp"

namespace sfumato {

/// A declaration of two numbers, a category of four levels and a quantity, without rows.
inline PublicTable declared_table(std::uint64_t rows) {
  PublicTable table;
  table.features = {NumericColumn{"a", 0.0, 1.0}, CategoryColumn{"b", {"u", "v", "w", "x"}},
                    NumericColumn{"c", -3.0, 3.0}};
  table.target = "y";
  table.target_low = -2.0;
  table.target_high = 2.0;
  table.rows = rows;
  return table;
}

/// A table of `d` features in [-1, 1] and an intercept, with known coefficients.
struct SyntheticTable {
  PublicTable table;
  Eigen::VectorXd truth;
  BoundedRows rows;

  [[nodiscard]] RowSource source() const {
    return [this](const PublicTable& bounds) {
      (void)bounds;  // ranges are not narrowed in these tests
      return rows;
    };
  }
};

inline SyntheticTable synthetic_table(FitModel model, Eigen::Index n, Eigen::Index d,
                                      std::uint64_t seed, double noise = 0.2) {
  std::mt19937_64 engine(seed);
  std::normal_distribution<double> normal;
  SyntheticTable made;
  made.table.target = "y";
  for (Eigen::Index j = 0; j < d; ++j) {
    made.table.features.emplace_back(NumericColumn{"x" + std::to_string(j), -1.0, 1.0});
  }
  made.table.rows = static_cast<std::uint64_t>(n);
  made.table.relation = NeighbouringRelation::zero_out;
  if (model == FitModel::ridge) {
    made.table.target_low = -2.0, made.table.target_high = 2.0;
  } else {
    made.table.classes = model == FitModel::logistic ? std::vector<std::string>{"no", "yes"}
                                                     : std::vector<std::string>{"a", "b", "c"};
  }
  made.truth = Eigen::VectorXd::LinSpaced(d + 1, 0.7, -0.7);
  made.rows.features.resize(n, d + 1);
  made.rows.target.resize(n);
  for (Eigen::Index i = 0; i < n; ++i) {
    for (Eigen::Index j = 0; j < d; ++j) {
      made.rows.features(i, j) = std::clamp(0.4 * normal(engine), -1.0, 1.0);
    }
    made.rows.features(i, d) = 1.0;
    const double score = made.rows.features.row(i).dot(made.truth);
    if (model == FitModel::ridge) {
      made.rows.target(i) = std::clamp(score + noise * normal(engine), -2.0, 2.0);
    } else if (model == FitModel::logistic) {
      const double p = 1.0 / (1.0 + std::exp(-3.0 * score));
      made.rows.target(i) = std::uniform_real_distribution<double>()(engine) < p ? 1.0 : 0.0;
    } else {
      made.rows.target(i) = score > 0.2 ? 2.0 : score > -0.2 ? 1.0 : 0.0;
    }
  }
  return made;
}

}  // namespace sfumato
