#include "lab/study/export_answer.hpp"

#include <fmt/format.h>

#include "lab/study/export.hpp"
#include "lab/study/ledger_study.hpp"
#include "lab/study/seed_notice.hpp"
#include "sfumato/account/planned_files.hpp"
#include "sfumato/core/error.hpp"
#include "sfumato/data/keys/makers.hpp"

namespace sfumato::lab {

const Keys<StudyExportQuestion>& study_export_keys() {
  using namespace keys;
  using Q = StudyExportQuestion;
  static const Keys<Q> all = {
      required(file_key<Q>("ledger", "ledger written by `study run`", &Q::ledger)),
      required(output_key<Q>("out", "file to write: .csv, or .npz with the loss of every record",
                             &Q::out)),
      flag_key<Q>("timings", "include the seconds that each trial took", &Q::timings)};
  return all;
}

StudyExportAnswer answer(const StudyExportQuestion& question, Observer&) {
  const bool npz = question.out.ends_with(".npz");
  if (!npz && !question.out.ends_with(".csv")) {
    throw InvalidArgument(fmt::format("\"{}\" ends in neither .csv nor .npz", question.out), "",
                          Where::key("out"));
  }
  prepare_outputs({question.ledger}, {{"out", question.out}}, question.force);
  const Ledger ledger = Ledger::read(question.ledger);
  const Study study = study_of(ledger);
  const std::uint64_t rows =
      (npz ? export_npz : export_csv)(ledger, study, question.out, question.timings);
  return {question, rows, study.train.seed};
}

Document document_of(const StudyExportAnswer& answer, Detail) {
  Document document = new_document("study export", "Trials of " + answer.question.ledger);
  document.add_result("rows", answer.rows);
  document.state(StatementKind::warning, seed_notice(answer.seed));
  document.state(StatementKind::summary,
                 fmt::format("{} rows written to {}.", answer.rows, answer.question.out));
  return document;
}

}  // namespace sfumato::lab
