#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "sfumato/data/adjacency.hpp"
#include "sfumato/sde/problem/ridge.hpp"

namespace sfumato {

enum class RowsModel { ridge, logistic };

/// "ridge" or "logistic".
[[nodiscard]] std::string_view name(RowsModel model);

/// What do the published weights of a regression reveal about each row of its table?
struct RowsQuestion {
  std::string table;                  ///< CSV with a header row
  std::string target;                 ///< the column to predict
  std::vector<std::string> features;  ///< empty: every column but the target and the id
  std::string id;                     ///< a column that names the rows; empty: none
  RowsModel model = RowsModel::ridge;
  bool intercept = true;
  std::string standardise;  ///< a file of centres and scales, or "self"; empty: as the columns are

  Adjacency adjacency = Adjacency::remove;
  std::string replacement;  ///< with Adjacency::replace: CSV with the record that D' has instead
  LossScale loss = LossScale::sum;
  double ridge = 0.0;
  RidgeScale ridge_scale = RidgeScale::fixed;

  /// Sigma: the variance of isotropic noise, or the path of a covariance file (NPZ, NPY, CSV).
  std::variant<double, std::string> noise = 0.0;
  bool release = false;        ///< the minimiser plus N(0, noise), instead of a noisy training
  std::optional<double> time;  ///< of the flow, from a start at 0; none: in the long run
  std::optional<double> learning_rate;  ///< noisy gradient descent instead of the flow
  std::optional<double> steps;          ///< of the descent, from 0; may be +inf

  std::vector<double> epsilons{1.0};  ///< where to give delta
  double delta = 1e-5;                ///< where to give epsilon
  /// So many of the riskiest rows are simulated beside their bounds; none: 3 where the numbers are bounds
  /// on a training, else 0.
  std::optional<int> check;
  std::uint64_t seed = 1;  ///< of the simulated paths

  std::optional<int> top;  ///< rows to list; none: 5 in brief, 10 in full
  std::string separator = ",";
  std::string decimal = ".";
  bool drop_missing = false;  ///< leave out rows with missing values instead of refusing the table
  unsigned threads = 0;       ///< 0: all cores; results do not depend on it
};

}  // namespace sfumato
