#pragma once

#include <Eigen/Core>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "sfumato/data/row_matrix.hpp"
#include "sfumato/design/design.hpp"
#include "sfumato/design/differences.hpp"
#include "sfumato/design/dual_ascent.hpp"

namespace sfumato {

/// What the command line says, as it says it; empty means left out.
struct DesignOptions {
  std::string differences;
  std::string second_moments;
  std::string sensitivities;
  std::string problem;         ///< a problem file: iterated design
  std::optional<double> time;  ///< of --problem; empty: the last of the file
  std::optional<int> rounds;   ///< of --problem
  std::string origin;          ///< public or private
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
  std::optional<double> tolerance;
  int top = 10;
  int threads = 0;
  std::string out;
  bool force = false;  ///< replace a file
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
  std::variant<RowMatrix, Covariance> what;
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

/// How the options measure accuracy and what they ask for in it; the amount is empty for --risk and
/// --frontier, and where a problem's own noise sets it.
struct Amount {
  std::string name;  ///< trace, excess-loss, distance or budget
  std::optional<double> value;
};
/// Throws   InvalidArgument unless the options give one budget, or one of the other questions.
[[nodiscard]] Amount amount_of(const DesignOptions& options);

/// The measure of that name. `own_hessian` is what a problem knows of its loss, for --distance.
/// Throws   InvalidArgument if an option is missing or does not go with it; as the readers.
[[nodiscard]] ErrorMeasure read_measure(const DesignOptions& options, const std::string& name,
                                        Eigen::Index dimension,
                                        const std::optional<Covariance>& own_hessian = {});

/// Form, groups, floor and regularisation for a budget tr(W Sigma) = total. Throws likewise.
[[nodiscard]] DesignTask read_task(const DesignOptions& options, const ErrorMeasure& measure,
                                   double total, Eigen::Index dimension);

/// Reads the files and checks that the options fit together.
///
/// Throws   InvalidArgument for options that contradict each other; InvalidArgument as the readers
///          and for sizes that differ, with the file.
[[nodiscard]] DesignQuestion read_design_question(const DesignOptions& options);

/// The design for a budget tr(W Sigma) = total. Throws as average_design and minimax_design.
[[nodiscard]] Design solve_design(const DesignQuestion& question, double total, Observer& observer);

}  // namespace sfumato
