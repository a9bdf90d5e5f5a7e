#pragma once

#include <Eigen/Core>
#include <string>
#include <variant>
#include <vector>

#include "sfumato/answers/problem/questions.hpp"
#include "sfumato/math/covariance.hpp"
#include "sfumato/sde/law.hpp"
#include "sfumato/sde/problem/quadratic.hpp"

namespace sfumato {

/// One data set of a problem file: its loss and, for a training, what drives and starts it.
struct DataSet {
  QuadraticLoss loss;
  Covariance noise;   ///< Sigma of a flow, S of one step of a chain, S of a release
  GaussianLaw start;  ///< of a flow or chain; a release has none
};

/// Noisy gradient flow that is looked at once, at one of these times; +inf is the stationary law.
struct Flow {
  std::vector<double> times;
};
/// Noisy gradient descent x <- x - eta (A x - pull) + N(0, S) that is looked at once, after one of
/// these whole numbers of steps; +inf is the stationary law.
struct Chain {
  double learning_rate;  ///< eta, of D and D'
  std::vector<double> steps;
};
/// The minimiser plus N(0, S), given out once.
struct Release {};
using Output = std::variant<Flow, Chain, Release>;

struct QuadraticProblem {
  std::string source;  ///< the file
  std::string title;
  Output output;
  RiskQuestions questions;
  DataSet d;
  DataSet d_prime;
  std::string defaults;       ///< what [d] leaves to its defaults, as a sentence; may be empty
  std::string way_of_change;  ///< how [d_prime] was made from [d] if by a rule: "row 3 removed"

  [[nodiscard]] Eigen::Index dimension() const { return d.loss.pull.size(); }
  [[nodiscard]] bool is_release() const { return std::holds_alternative<Release>(output); }
  [[nodiscard]] const Chain* chain() const { return std::get_if<Chain>(&output); }
  /// What the file calls the noise: "Sigma" of a flow, "S" otherwise.
  [[nodiscard]] const char* noise_name() const {
    return std::holds_alternative<Flow>(output) ? "Sigma" : "S";
  }
};

/// Reads a problem file; docs/quadratic.md describes its keys.
///
/// Assumes   the overrides have passed require_overrides.
/// Throws    InvalidArgument with file:line:column, and as the readers of the files it names.
[[nodiscard]] QuadraticProblem read_quadratic_problem(const std::string& path,
                                                      const Overrides& overrides);

}  // namespace sfumato
