#pragma once

#include <string>
#include <vector>

#include "lab/study/spec/study.hpp"
#include "sfumato/lab/audit/options.hpp"

namespace sfumato::lab {

/// A number that a trained model is judged by; larger where the differing record is more likely in D.
struct ScoreInfo {
  std::string name;
  ScoreAccess access;
  std::vector<ModelKind> kinds;  ///< of models whose trials record it
};

/// All of them, in the order in which trials are exported.
[[nodiscard]] const std::vector<ScoreInfo>& known_scores();

/// The score of that name.
/// Throws   InvalidArgument at `where`, with a suggestion, if there is none or models of `kind` have not.
[[nodiscard]] const ScoreInfo& score_called(const std::string& name, ModelKind kind,
                                            const Where& where);

}  // namespace sfumato::lab
