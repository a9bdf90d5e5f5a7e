#include "sfumato/answers/study/copy.hpp"

#include <fmt/format.h>

#include "sfumato/study/ledger/ledger.hpp"

namespace sfumato {

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
                 fmt::format("{} trials and {} look{} in {}.", answer.trials, answer.looks,
                             answer.looks == 1 ? "" : "s", answer.question.copy));
  return document;
}

}  // namespace sfumato
