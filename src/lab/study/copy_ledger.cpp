#include "lab/study/copy_ledger.hpp"

#include <fmt/format.h>

#include "sfumato/data/keys/makers.hpp"
#include "sfumato/lab/ledger/ledger.hpp"

namespace sfumato::lab {

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
                 fmt::format("{} trials and {} look{} copied to {}.", answer.trials, answer.looks,
                             answer.looks == 1 ? "" : "s", answer.question.copy));
  return document;
}

}  // namespace sfumato::lab
