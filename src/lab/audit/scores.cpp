#include "lab/audit/scores.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sfumato/core/suggest.hpp"

namespace sfumato::lab {

const std::vector<ScoreInfo>& known_scores() {
  using enum ModelKind;
  static const std::vector<ScoreInfo> scores = {
      {"loss", ScoreAccess::outputs, {network, quadratic, ridge, logistic}},
      {"confidence", ScoreAccess::outputs, {network, logistic}},
      {"margin", ScoreAccess::outputs, {network, logistic}},
      {"gradient_norm", ScoreAccess::weights, {network, quadratic, ridge, logistic}},
      {"projection", ScoreAccess::weights, {network, quadratic, ridge, logistic}},
      {"likelihood_ratio", ScoreAccess::distribution, {quadratic, ridge}}};
  return scores;
}

const ScoreInfo& score_called(const std::string& name, ModelKind kind, const Where& where) {
  std::vector<std::string> names;
  bool known = false;
  for (const ScoreInfo& score : known_scores()) {
    known |= score.name == name;
    if (std::find(score.kinds.begin(), score.kinds.end(), kind) == score.kinds.end()) continue;
    if (score.name == name) return score;
    names.push_back(score.name);
  }
  throw InvalidArgument(
      known ? fmt::format("models of kind {} have no score `{}`", lab::name(kind), name)
            : fmt::format("no score is called `{}`", name),
      suggestion(name, names, "scores"), where);
}

}  // namespace sfumato::lab
