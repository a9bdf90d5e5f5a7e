#include "sfumato/study/export.hpp"

#include <fmt/format.h>

#include "command.hpp"
#include "output_files.hpp"
#include "sfumato/data/file_output.hpp"
#include "sfumato/study/seed_notice.hpp"
#include "study/commands.hpp"

namespace sfumato::cli {

ExitCode export_study(const StudyOptions& options) {
  const bool npz = options.out.ends_with(".npz");
  if (!npz && !options.out.ends_with(".csv")) {
    refuse_usage("out", fmt::format("\"{}\" ends in neither .csv nor .npz", options.out));
  }
  prepare_output(options.out, options.force);
  const Ledger ledger = Ledger::read(options.ledger);
  const Study study = parse_study(ledger.identity().study, options.ledger);
  const std::uint64_t rows =
      (npz ? export_npz : export_csv)(ledger, study, options.out, options.timings);
  Document document = new_document("study export", "Trials of " + options.ledger);
  document.state(StatementKind::warning, seed_notice(study.train.seed));
  document.state(StatementKind::summary, fmt::format("{} rows in {}.", rows, options.out));
  print(document, options.json);
  return kFine;
}

}  // namespace sfumato::cli
