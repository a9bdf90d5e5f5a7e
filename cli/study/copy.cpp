#include <fmt/format.h>

#include "command.hpp"
#include "sfumato/study/ledger/ledger.hpp"
#include "study/commands.hpp"

namespace sfumato::cli {

ExitCode copy_study(const StudyOptions& options) {
  const Ledger ledger = Ledger::read(options.ledger);
  ledger.copy_to(options.out);
  const std::size_t looks = ledger.looks().size();
  Document document = new_document("study copy", "Copy of " + options.ledger);
  document.state(StatementKind::summary,
                 fmt::format("{} trials and {} look{} in {}.", ledger.finished().size(), looks,
                             looks == 1 ? "" : "s", options.out));
  print(document, options.json);
  return kFine;
}

}  // namespace sfumato::cli
