#pragma once

#include <string>
#include <vector>

#include "sfumato/study/ledger_audit/options.hpp"
#include "sfumato/study/spec/study.hpp"

namespace sfumato {

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

}  // namespace sfumato
