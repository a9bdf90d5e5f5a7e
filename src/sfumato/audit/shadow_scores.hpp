#pragma once

#include <Eigen/Core>
#include <cstdint>

#include "sfumato/audit/score_sample.hpp"

namespace sfumato {

using MembershipMask = Eigen::Matrix<std::uint8_t, Eigen::Dynamic, Eigen::Dynamic>;

/// Scores of every record on every model, and which records each model was trained on: the layout of
/// LiRA's published code. Scores are logits of the confidence in the true class, log(p / (1 - p)).
struct ShadowScores {
  Eigen::MatrixXd logits;  ///< models x records
  MembershipMask member;   ///< 1 where the model was trained on the record
};

/// Throws   InvalidArgument if shapes differ, there is no model or record, or a logit is not finite.
void require_shadows(const ShadowScores& shadows, const Where& where = Where::here());

/// All scores of a models x records table, by membership: for a ROC curve. The unit is the record, so
/// it describes and bounds nothing (Spec §11.2).
[[nodiscard]] ScoreSample by_membership(const Eigen::MatrixXd& scores,
                                        const MembershipMask& member);

/// One record of each model, drawn at random by `seed`: one score per model, a sample that bounds
/// epsilon if the models are independent and each trained on a record or not by a fair coin. The pool
/// of pooled(): the bound is for the worst record.
[[nodiscard]] ScoreSample one_record_per_model(const Eigen::MatrixXd& scores,
                                               const MembershipMask& member, std::uint64_t seed);

/// The attack that takes nothing but the model: minus the loss, log p.
[[nodiscard]] Eigen::MatrixXd loss_scores(const Eigen::MatrixXd& logits);

}  // namespace sfumato
