#include "lab/study/ledger_study.hpp"

#include <fmt/format.h>

#include "sfumato/data/keys/makers.hpp"
#include "sfumato/lab/ledger/ledger.hpp"

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

const Keys<StudyCopyQuestion>& study_copy_keys() {
  using namespace keys;
  using Q = StudyCopyQuestion;
  static const Keys<Q> all = {
      required(file_key<Q>("ledger", "ledger written by `study run`", &Q::ledger)),
      required(file_key<Q>("copy", "file to create", &Q::copy))};
  return all;
}

StudyCopyAnswer answer(const StudyCopyQuestion& question, Observer&) {
  const Ledger ledger = Ledger::read(question.ledger);
  ledger.copy_to(question.copy);
  return {question, ledger.finished().size(), ledger.looks().size()};
}

Document document_of(const StudyCopyAnswer& answer, Detail) {
  Document document = new_document("study copy", "Copy of " + answer.question.ledger);
  document.add_result("trials", answer.trials);
  document.add_result("looks", answer.looks);
  document.state(StatementKind::summary,
                 say("{} trials and {} look{} copied to {}.", answer.trials, answer.looks,
                     answer.looks == 1 ? "" : "s", answer.question.copy));
  return document;
}

}  // namespace sfumato::lab
