#include "sfumato/bound/bound_question.hpp"

#include "sfumato/bound/bound_keys.hpp"
#include "sfumato/problem/risk_keys.hpp"
#include "sfumato/problem/sde_file.hpp"

namespace sfumato {

const std::vector<KeyInfo>& bound_keys() {
  static const std::vector<KeyInfo> all = [] {
    std::vector<KeyInfo> keys;
    for (const KeyInfo& key : sde_problem_keys()) {
      if (key.table == "estimate" && keys.back().table == "flow") {
        for (KeyInfo& risk : infos_of(risk_keys(), "risk")) {
          // A bound speaks of one delta, and of KL alone.
          if (risk.key == "epsilons" || risk.key == "delta") keys.push_back(std::move(risk));
        }
      }
      keys.push_back(key);
    }
    return keys;
  }();
  return all;
}

BoundQuestion read_bound_question(const std::string& path) {
  return read_bound_question(TomlTable::read(path), path);
}

BoundQuestion read_bound_question(const TomlTable& root, const std::string& source,
                                  DriftsAre drifts) {
  BoundQuestion question;
  question.risk = read_risk(root);
  question.problem = read_sde_problem(root, source, drifts);
  return question;
}

}  // namespace sfumato
