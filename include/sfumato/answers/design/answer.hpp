#pragma once

#include <Eigen/Core>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "sfumato/answers/design/iterate.hpp"
#include "sfumato/answers/design/task.hpp"
#include "sfumato/core/observer.hpp"
#include "sfumato/data/covariance_file.hpp"

namespace sfumato {

/// One point of a frontier: the design for an error.
struct FrontierPoint {
  double error;
  Design design;
};

struct DesignAnswer {
  DesignQuestion question;
  std::string source;       ///< the file of what is hidden
  std::string description;  ///< "200 gradient differences of 10 coordinates"
  bool minimax;             ///< the cost is that of the worst difference, else their mean
  ErrorMeasure measure;
  DesignTask task;  ///< its budget is 1 where a cost or a frontier is asked for
  /// The design; those of a frontier, fewer if stopped; or the rounds on a problem.
  std::variant<Design, std::vector<FrontierPoint>, IterationAnswer> found;
  bool stopped = false;  ///< the bounds hold, the gap may be large

  [[nodiscard]] Eigen::Index dimension() const;
};

/// Throws   InvalidArgument at keys that contradict each other or hold a number out of range; InvalidArgument as the
///          readers and for sizes that differ, with the file; as average_design, minimax_design, iterate_design and
///          read_sde_problem.
[[nodiscard]] DesignAnswer answer(const DesignQuestion& question, Observer& observer);

/// The covariance as a file that other commands take, with its provenance; none of a frontier.
[[nodiscard]] std::optional<CovarianceFile> covariance_of(const DesignAnswer& answer);

}  // namespace sfumato
