#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "sfumato/answers/rows/input.hpp"
#include "sfumato/data/adjacency.hpp"
#include "sfumato/data/csv.hpp"
#include "sfumato/privacy/row_risk.hpp"

namespace sfumato {

enum class RowsModel { ridge, logistic };

/// The command line of `sfumato rows`, as given.
struct RowsOptions {
  std::string file;
  std::string model = "ridge";
  RegressionColumns columns;
  std::string adjacency;
  std::string with_file;
  std::string loss;
  double ridge = 0.0;
  std::string ridge_scale = "fixed";
  std::string noise;
  bool release = false;
  double time = std::numeric_limits<double>::infinity();
  std::optional<double> learning_rate;
  std::optional<double> steps;
  std::vector<double> epsilons{1.0};
  double delta = 1e-5;
  std::optional<int> check;
  std::uint64_t seed = 1;
  int top = 10;
  std::string out;
  std::string separator = ",";
  std::string decimal = ".";
  bool no_intercept = false;
  bool drop_missing = false;
  int threads = 0;
  bool force = false;  ///< replace a file
  bool json = false;
};

/// Refuses combinations and values that make no sense, before any work.
/// Throws   InvalidArgument that names the key.
void require_sense(const RowsOptions& options);

[[nodiscard]] RowsModel model_of(const RowsOptions& options);
[[nodiscard]] RidgeOptions ridge_of(const RowsOptions& options);
/// Throws   InvalidArgument for a separator that is none.
[[nodiscard]] CsvOptions csv_of(const RowsOptions& options);
/// How many of the riskiest rows to check by Monte Carlo: 0 where the numbers are exact anyway.
[[nodiscard]] int checks_of(const RowsOptions& options);
/// Throws   InvalidArgument for a noise that is neither a variance nor a covariance file.
[[nodiscard]] RowRiskOptions risk_of(const RowsOptions& options, const RegressionInput& input);

}  // namespace sfumato
