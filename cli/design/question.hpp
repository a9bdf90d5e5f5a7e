#pragma once

#include <Eigen/Core>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "sfumato/design/design.hpp"
#include "sfumato/design/differences.hpp"
#include "sfumato/design/dual_ascent.hpp"

namespace sfumato::cli {

/// What the command line says, as it says it; empty means left out.
struct DesignOptions {
  std::string differences;
  std::string second_moments;
  std::string sensitivities;
  std::string origin;  ///< public or private
  std::string form = "diagonal";
  std::string objective;  ///< average or minimax; empty: minimax for differences
  std::string groups;
  std::string weights;
  std::string hessian;
  std::optional<double> trace, excess_loss, distance, budget, risk;
  std::string measure;  ///< of --risk: trace, excess-loss, distance or budget
  std::vector<double> frontier;
  double floor = 0.0;
  double regularisation = 0.0;
  double tolerance = 1e-8;
  int top = 10;
  int threads = 0;
  std::string out;
  bool json = false;
};

/// How the accuracy that noise costs is measured.
struct ErrorMeasure {
  std::string name;    ///< "tr(Sigma)", "stationary excess loss", ...
  Covariance weights;  ///< W of tr(W Sigma)
  double scale;        ///< the measure is scale * tr(W Sigma)
};

/// What is to be hidden: differences one by one, or their second moments.
struct Hidden {
  std::variant<RowMajorMatrix, Covariance> what;
  std::string source;       ///< the file
  std::string description;  ///< "200 differences of 10 coordinates"
  Eigen::Index dimension;
};

/// A checked question.
struct DesignQuestion {
  Hidden hidden;
  bool minimax;
  bool is_private;
  ErrorMeasure measure;
  DesignTask task;                      ///< its budget is 1 where a risk or a frontier is asked for
  std::optional<double> risk;           ///< least error for this risk
  std::vector<double> frontier_totals;  ///< tr(W Sigma) at each point of the frontier
  SolverOptions solver;
};

/// Reads the files and checks that the options fit together.
///
/// Throws   CLI::ValidationError for options that contradict each other; InvalidArgument as the readers
///          and for sizes that differ, with the file.
[[nodiscard]] DesignQuestion read_design_question(const DesignOptions& options);

/// The design for a budget tr(W Sigma) = total. Throws as average_design and minimax_design.
[[nodiscard]] Design solve_design(const DesignQuestion& question, DesignForm form, double total,
                                  Observer& observer);

}  // namespace sfumato::cli
