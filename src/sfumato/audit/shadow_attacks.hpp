#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <string>
#include <vector>

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

/// The likelihood-ratio attack [Carlini2022]: normal distributions are fitted to a record's logits over shadow
/// models with and without it, and a target's logit is compared with them.
struct LiraOptions {
  enum class Kind {
    online,   ///< log N(x; in) - log N(x; out): needs shadow models of both kinds for each record
    offline,  ///< log Phi((x - mean out) / sd out): needs those without the record only
  };
  enum class Variance {
    global,      ///< one for all records, per world: better with fewer than about 64 shadow models
    per_record,  ///< needs two shadow models per record and world
  };
  Kind kind = Kind::online;
  Variance variance = Variance::global;
};

/// Scores of every record on every model, each model being the target in turn and all others its
/// shadow models; larger looks more like a member. Scores of one record share shadow models: they
/// are not independent.
///
/// Throws   InvalidArgument as require_shadows(), or if a record has too few shadow models.
[[nodiscard]] Eigen::MatrixXd lira_scores(const ShadowScores& shadows, const LiraOptions& options);

/// The same on `targets` (models x records) that are not among the shadow models: given those, scores
/// of different targets are independent.
/// Throws   as above; InvalidArgument if the records differ in number.
[[nodiscard]] Eigen::MatrixXd lira_scores(const ShadowScores& shadows,
                                          const Eigen::MatrixXd& targets,
                                          const LiraOptions& options);

/// The robust attack [ZarifzadehLiuShokri2024]: how often the target prefers the record to another one,
/// relative to reference models.
///
///   score(x) = share of z with  (p(x|target) / p(x)) / (p(z|target) / p(z)) >= gamma
///
/// p(x) is the mean confidence over reference models, half of it from models with x (online); offline
/// it is made from those without, as ((1 + a) mean + (1 - a)) / 2. The z are the records that the
/// target was not trained on.
struct RmiaOptions {
  double gamma = 2.0;      ///< > 0
  bool online = true;      ///< use reference models with the record too
  double offline_a = 0.3;  ///< in [0, 1]
};

/// Scores of every record on every model, each the target in turn and the others its references.
/// Throws   InvalidArgument as require_shadows(); if gamma is not positive, offline_a is not in [0, 1],
///          a record has no reference model of a kind, or fewer than two records are outside a
///          model's training set.
[[nodiscard]] Eigen::MatrixXd rmia_scores(const ShadowScores& shadows,
                                          const RmiaOptions& options = {});

/// LOSS, LiRA online and offline, and RMIA, each model being attacked with the others as shadow models;
/// one that needs more shadow models has the problem in place of scores.
[[nodiscard]] std::vector<NamedAttack> shadow_attacks(const ShadowScores& shadows);

/// Half of the models, at random, fit LiRA; the others are attacked on one record each, which makes their
/// scores independent.
[[nodiscard]] ScoreSample shadow_sample(const ShadowScores& shadows, std::uint64_t seed);

}  // namespace sfumato
