#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lab/study/scheduler/calibrate.hpp"
#include "lab/study/spec/study.hpp"
#include "sfumato/audit/claim_plan.hpp"
#include "sfumato/core/claim.hpp"
#include "sfumato/core/observer.hpp"
#include "sfumato/data/keys/key.hpp"
#include "sfumato/report/document.hpp"

namespace sfumato::lab {

/// What the planned runs of a study can show, and how long they take on this machine.
struct StudyPlanQuestion {
  std::string study;                       ///< file
  std::vector<std::string> settings = {};  ///< key=value, over what the file says
  /// What is to be refuted; none: the claims of the study, or epsilon = 1 at its delta.
  std::optional<double> eps = {}, delta = {};
  std::optional<double> confidence = {};  ///< of the audit; none: that of the study
  unsigned threads = 0;                   ///< groups trained at once; 0: all cores
  unsigned ranks = 0;                     ///< processes of mpirun, a group each; 0: none
  double seconds = 2.0;                   ///< to measure this machine
};

/// All but `settings`: key=value over the keys of the study.
[[nodiscard]] const Keys<StudyPlanQuestion>& study_plan_keys();

/// What could be shown at most where coins decide which records are in.
struct CoinPlan {
  std::size_t models = 0;   ///< canaries of one model, or shadow models
  std::size_t guessed = 0;  ///< models of which a record is guessed; 0: canaries
  double maximum = 0.0;     ///< auditable epsilon, all being guessed right
};

/// How long training takes: an estimate from what was measured.
struct TimePlan {
  unsigned cores = 1;    ///< of this machine
  unsigned wanted = 1;   ///< threads or ranks
  unsigned at_once = 1;  ///< groups, on this machine
  TimeCalibration calibration;
  double seconds_here = 0.0;
  std::optional<double> seconds_there =
      {};  ///< on `wanted` such cores, if that is more than there are
};

struct StudyPlanAnswer {
  StudyPlanQuestion question;
  Study study;
  double confidence = 0.95;
  Delta delta = Delta(0.0);            ///< that coins are planned for
  std::vector<ClaimPlan> claims = {};  ///< none where coins decide
  std::optional<CoinPlan> canaries = {}, shadows = {};
  std::optional<TimePlan> time = {};  ///< none: stopped while measuring
};

/// Throws   InvalidArgument at the key of a value that is out of range; as read_study() and calibrate().
[[nodiscard]] StudyPlanAnswer answer(const StudyPlanQuestion& question, Observer& observer);

[[nodiscard]] Document document_of(const StudyPlanAnswer& answer, Detail detail);

/// Models per world in each sample of an audit of the study: replicas of a pair or, where each replica
/// draws its pair, all of them in one sample.
[[nodiscard]] std::uint64_t models_per_sample(const AuditSpec& audit);

[[nodiscard]] PlannedModels planned_models(const AuditSpec& audit);

/// The audit of the planned models if the attack never erred: its maximum_epsilon() is what the planned
/// number of runs can show at most (Spec §11.3), its runs_to_refute() how many would be needed.
///
/// Throws   as audit_scores(): held_out needs two models per world.
[[nodiscard]] Audit maximum_audit(const AuditSpec& audit, const AuditOptions& options);

}  // namespace sfumato::lab
