#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "sfumato/data/adjacency.hpp"
#include "sfumato/data/column_coding.hpp"
#include "sfumato/data/memory_table.hpp"
#include "sfumato/sde/problem/ridge.hpp"

namespace sfumato {

enum class RowsModel { ridge, logistic };

/// "ridge" or "logistic".
[[nodiscard]] std::string_view name(RowsModel model);

/// How weights come about if not by adding noise to the minimiser.
enum class RowsTraining {
  flow,     ///< noisy gradient flow, in continuous time
  descent,  ///< full-batch noisy gradient descent
};

/// "flow" or "descent".
[[nodiscard]] std::string_view name(RowsTraining training);

/// What the noise is to achieve for every row, in the worse direction.
struct RowsGoal {
  enum class Measure { epsilon, advantage };
  Measure measure;
  double most;  ///< the most that epsilon (at the question's delta) or advantage may be
};

/// "eps = 1" or "advantage = 0.1".
[[nodiscard]] std::string words_of(const RowsGoal& goal);

/// What do the published weights of a regression reveal about each row of its table?
struct RowsQuestion {
  std::string table;  ///< CSV with a header row, may be compressed; "-": standard input
  /// In the place of the file, which `table` then only names in messages; none: there is a file.
  std::shared_ptr<const MemoryTable> in_memory;
  std::string target;                    ///< the column to predict
  std::vector<std::string> features;     ///< empty: every column but the target and the id
  std::string id;                        ///< a column that names the rows; empty: none
  std::vector<std::string> exclude;      ///< columns that are no features
  std::vector<std::string> categorical;  ///< columns whose numbers are categories; texts are anyway
  std::vector<std::string> references;   ///< "column=level": the level that has no indicator
  std::string positive;  ///< the value of the target that is 1 (logistic); empty: it holds 0 and 1
  Impute impute = Impute::refuse;  ///< missing values of features
  RowsModel model = RowsModel::ridge;
  bool intercept = true;
  std::string standardise;  ///< a file of centres and scales, or "self"; empty: as the columns are

  Adjacency adjacency = Adjacency::remove;
  std::string replacement;  ///< with Adjacency::replace: CSV with the record that D' has instead
  LossScale loss = LossScale::sum;
  double ridge = 0.0;
  RidgeScale ridge_scale = RidgeScale::fixed;

  /// The variance of isotropic noise, or the path of a covariance file (NPZ, NPY, CSV); 0: not given, with a `goal`.
  std::variant<double, std::string> noise = 0.0;
  std::vector<double> noises;  ///< in its place several variances, to compare
  std::optional<RowsGoal>
      goal;  ///< find the least noise, or the least multiple of `noise`, that achieves it

  /// None: the minimiser plus N(0, noise) is published, unless a time or a learning rate says how it is trained.
  std::optional<RowsTraining> training;
  bool release = false;        ///< says that nothing is trained with noise, as is the default
  std::optional<double> time;  ///< of the flow, from a start at 0; none: in the long run
  std::optional<double> learning_rate;  ///< of the descent
  std::optional<double> steps;          ///< of the descent, from 0; may be +inf

  std::optional<double> max_advantage;  ///< a row above it is a violation
  std::vector<double> epsilons{1.0};    ///< where to give delta
  double delta = 1e-5;                  ///< where to give epsilon
  /// So many of the riskiest rows are simulated beside their bounds; none: 3 where the numbers are bounds
  /// on a training, else 0.
  std::optional<int> check;
  std::uint64_t seed = 1;  ///< of the simulated paths

  std::optional<int> top;  ///< rows to list; none: 5 in brief, 10 in full
  std::string separator = ",";
  std::string decimal = ".";
  unsigned threads = 0;  ///< 0: all cores; results do not depend on it
};

/// How the weights are trained: as the question says, or as its time or learning rate implies; none: not with noise.
[[nodiscard]] std::optional<RowsTraining> training_of(const RowsQuestion& question);

}  // namespace sfumato
