#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sfumato/core/observer.hpp"
#include "sfumato/design/design_answer.hpp"
#include "sfumato/design/iterated_design.hpp"
#include "sfumato/math/covariance.hpp"
#include "sfumato/problem/sde_problem.hpp"
#include "sfumato/problem/simulation_size.hpp"

namespace sfumato {

/// The measure and how much of it; the amount is empty for a cost and a frontier, and where a problem's own
/// noise sets it.
struct ErrorAmount {
  DesignMeasure measure;
  std::optional<double> value;
};
/// Throws   InvalidArgument unless the question gives one budget, or asks one of the other questions.
[[nodiscard]] ErrorAmount amount_of(const DesignQuestion& question);

/// That measure. `own_hessian` is what a problem knows of its loss, for the distance.
/// Throws   InvalidArgument if a key is missing or does not go with it; as the readers.
[[nodiscard]] ErrorMeasure read_measure(const DesignQuestion& question, DesignMeasure measure,
                                        Eigen::Index dimension,
                                        const std::optional<Covariance>& own_hessian = {});

/// Form, groups, floor and regularisation for a budget tr(W Sigma) = total. Throws likewise.
[[nodiscard]] DesignTask read_task(const DesignQuestion& question, const ErrorMeasure& measure,
                                   double total, Eigen::Index dimension);

/// A vector with one number per coordinate; `expected` of them, or any number if it is 0.
/// Throws   InvalidArgument with the path.
[[nodiscard]] Eigen::VectorXd read_vector(const std::string& path, const char* what,
                                          Eigen::Index expected);

/// Refuses a key of the question. Throws InvalidArgument.
[[noreturn]] void refuse_key(const char* key, const std::string& problem);

/// nullptr, or what is wrong with a number that is not finite and positive.
[[nodiscard]] const char* not_a_budget(double value);

/// A problem whose noise is free to choose, and what is asked of it.
struct Iteration {
  SdeProblem problem;
  ErrorMeasure measure;
  DesignTask task;
  double time;
  SimulationSize size;  ///< where distributions are simulated
};

/// Reads the problem file and checks the question against it.
/// Throws   InvalidArgument for keys that do not go with a problem, for one whose noise is not free; as
///          read_sde_problem.
[[nodiscard]] Iteration read_iteration(const DesignQuestion& question);

/// Below this share of the isotropic variance a direction counts as nearly bare.
inline constexpr double kBareShare = 1e-2;

/// Throws   as iterate_design.
[[nodiscard]] IterationAnswer iterate(const Iteration& iteration, const DesignQuestion& question,
                                      Observer& observer);

/// How much smaller a KL became; 1 where it did not, also if both are 0 or infinite.
[[nodiscard]] double gain(double before, double after);

}  // namespace sfumato
