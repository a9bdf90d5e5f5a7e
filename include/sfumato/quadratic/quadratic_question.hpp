#pragma once

#include <Eigen/Core>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "sfumato/core/pair.hpp"
#include "sfumato/problem/risk_questions.hpp"
#include "sfumato/risk/observation.hpp"

namespace sfumato {

/// Noisy gradient flow that is looked at once, at one of these times; +inf is the stationary distribution.
struct QuadraticFlow {
  std::vector<double> times;
};
/// Noisy gradient descent x <- x - eta (A x - pull) + N(0, S) that is looked at once, after one of
/// these whole numbers of steps; +inf is the stationary distribution.
struct QuadraticChain {
  double learning_rate = 0.0;  ///< eta, of D and D'
  std::vector<double> steps;
};
/// The minimiser plus N(0, S), given out once.
struct QuadraticRelease {};

/// What does one look at the parameters reveal, and what does it cost, where the loss is quadratic?
struct QuadraticQuestion {
  Pair<QuadraticTraining> data;
  std::variant<QuadraticFlow, QuadraticChain, QuadraticRelease> output;
  RiskQuestions risk = {};
  std::string title = {};
  std::string source = {};         ///< the file; empty: none
  std::string defaults = {};       ///< what [d] leaves to its defaults, as a sentence; may be empty
  std::string way_of_change = {};  ///< how D' was made from D if by a rule: "row 3 removed"

  [[nodiscard]] Eigen::Index dimension() const { return data.d.dimension(); }
  [[nodiscard]] bool is_release() const { return std::holds_alternative<QuadraticRelease>(output); }
  [[nodiscard]] const QuadraticChain* chain() const { return std::get_if<QuadraticChain>(&output); }
  /// Of a chain.
  [[nodiscard]] std::optional<double> learning_rate() const {
    return chain() != nullptr ? std::optional(chain()->learning_rate) : std::nullopt;
  }
  /// The times, or numbers of steps; none of a release.
  [[nodiscard]] std::vector<double> looks() const;
  /// What the file calls the noise: "Sigma" of a flow, "S" otherwise.
  [[nodiscard]] const char* noise_name() const {
    return std::holds_alternative<QuadraticFlow>(output) ? "Sigma" : "S";
  }
};

/// The question of a problem file; docs/quadratic.md explains its keys.
/// Throws    InvalidArgument with file:line:column, and as the readers of the files it names.
[[nodiscard]] QuadraticQuestion read_quadratic_question(const std::string& path);

}  // namespace sfumato
