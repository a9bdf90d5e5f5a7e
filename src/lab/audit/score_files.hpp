#pragma once

#include <vector>

#include "sfumato/audit/score_sample.hpp"
#include "sfumato/audit/shadow_scores.hpp"
#include "sfumato/lab/audit/audit_question.hpp"

namespace sfumato::lab {

/// One sample per column of the two files, larger scores meaning members.
/// Throws   InvalidArgument as read_array(), if the files differ in columns, if all scores of a
///          column are equal, or if members and non-members have the same scores.
[[nodiscard]] std::vector<ScoreSample> read_samples(const AuditQuestion& question);

/// The logits and who was trained on what, larger logits meaning members.
/// Throws   InvalidArgument as read_array() and require_shadows(), or if the mask is not made of 0 and 1.
[[nodiscard]] ShadowScores read_shadows(const AuditQuestion& question);

}  // namespace sfumato::lab
