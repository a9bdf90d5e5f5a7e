#include "lab/study/ledger_study.hpp"

#include <fmt/format.h>

namespace sfumato::lab {

Study study_of(const Ledger& ledger) {
  Study study = parse_study(ledger.identity().study, ledger.path());
  for (const TrialKey& key : ledger.finished()) {
    if (key.policy < study.noise.size() && key.pair < study.audit.pairs &&
        key.replica < study.audit.replicas) {
      continue;
    }
    throw InvalidArgument(
        fmt::format("holds a trial of policy {}, pair {}, replica {}, and its study ends at "
                    "policy {}, pair {}, replica {}",
                    key.policy + 1, key.pair + 1, key.replica + 1, study.noise.size(),
                    study.audit.pairs, study.audit.replicas),
        "It was changed by other means: restore it from a copy, or run the study again",
        Where::in(ledger.path()));
  }
  return study;
}

}  // namespace sfumato::lab
