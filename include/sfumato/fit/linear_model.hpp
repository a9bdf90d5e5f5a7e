#pragma once

#include <Eigen/Core>
#include <optional>
#include <string>
#include <vector>

namespace sfumato {

/// A fit in the units of the table:  prediction = intercept + coefficients^T features, features as numbers and indicators of levels.
struct LinearModel {
  std::vector<std::string> features;  ///< "age", "education=Masters"
  Eigen::MatrixXd coefficients;       ///< features x outputs
  Eigen::VectorXd intercept;          ///< of each output
  /// Standard errors, of the features and then the intercept, where there are any.
  std::optional<Eigen::VectorXd> errors = {};
};

}  // namespace sfumato
