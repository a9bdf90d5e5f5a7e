#pragma once

#include <Eigen/Core>
#include <optional>
#include <string>

#include "sfumato/design/design_answer.hpp"
#include "sfumato/math/covariance.hpp"

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

}  // namespace sfumato
