#pragma once

#include "sfumato/audit/shadow_scores.hpp"

namespace sfumato {

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

}  // namespace sfumato
