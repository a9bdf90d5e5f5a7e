#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "sfumato/core/claim.hpp"
#include "sfumato/core/observer.hpp"
#include "sfumato/core/units.hpp"
#include "sfumato/design/design.hpp"
#include "sfumato/design/design_question.hpp"
#include "sfumato/design/iterated_design.hpp"
#include "sfumato/math/covariance.hpp"
#include "sfumato/report/document.hpp"

namespace sfumato {

/// How the accuracy that noise costs is measured.
struct ErrorMeasure {
  std::string name;    ///< "tr(Sigma)", "stationary excess loss", ...
  Covariance weights;  ///< W of tr(W Sigma)
  double scale;        ///< the measure is scale * tr(W Sigma)
};

/// What an iterated design (Spec §9.5) came to, and the problem it speaks of.
struct IterationAnswer {
  std::string kind;           ///< of the problem: "linear drift (quadratic loss)"
  std::string way_of_change;  ///< how D' was made from D, if by a rule
  double time;                ///< when the noises were judged
  bool exact;                 ///< KL(D||D') of the rounds is exact, else a simulated bound
  std::uint64_t paths;        ///< where it is simulated: how
  std::uint64_t seed;
  double step;
  IteratedDesign design;
  /// Beside each round: KL(D'||D) where exact, else the best proven bound on KL(D||D'), infinite if none.
  std::vector<Claimed<Nats>> beside;
  Eigen::Index bare = 0;  ///< coordinates with less than kBareShare of the isotropic variance
};

/// One point of a frontier: the design for an error.
struct DesignFrontierPoint {
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
  std::variant<Design, std::vector<DesignFrontierPoint>, IterationAnswer> found;
  bool stopped = false;  ///< the bounds hold, the gap may be large

  [[nodiscard]] Eigen::Index dimension() const;
};

/// Throws   InvalidArgument at keys that contradict each other or hold a number out of range; InvalidArgument as the
///          readers and for sizes that differ, with the file; as average_design, minimax_design, iterate_design and
///          read_sde_problem.
[[nodiscard]] DesignAnswer answer(const DesignQuestion& question, Observer& observer);

/// In full: what the design is, what it achieves and how far it can be from the best, where the noise goes, or the
/// frontier or the rounds, and what it must not be used for. In brief: cost, gain and certificate.
[[nodiscard]] Document document_of(const DesignAnswer& answer, Detail detail);

}  // namespace sfumato
