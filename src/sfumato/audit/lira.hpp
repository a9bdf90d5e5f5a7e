#pragma once

#include "sfumato/audit/shadow_scores.hpp"

namespace sfumato {

/// The likelihood-ratio attack [Carlini2022]: normal laws are fitted to a record's logits over shadow
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

}  // namespace sfumato
