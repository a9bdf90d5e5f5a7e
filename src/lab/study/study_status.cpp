#include "sfumato/lab/study/study_status.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "lab/study/ledger_study.hpp"
#include "lab/study/study_keys.hpp"
#include "lab/study/study_progress.hpp"
#include "sfumato/core/clock_text.hpp"
#include "sfumato/data/keys/makers.hpp"

namespace sfumato::lab {
namespace {

std::string rest_text(const StudyStatusAnswer& answer) {
  std::string text =
      answer.growing ? "A run is adding to the ledger" : "No run is adding to the ledger";
  if (answer.seconds_left > 0.0) {
    text += fmt::format(
        "; the rest takes about {} (ETA {}) with {} at once", clock_text(answer.seconds_left),
        answer.growing ? "from now" : "once it is resumed",
        answer.workers == 1 ? "one group" : fmt::format("{} groups", answer.workers));
  }
  return text + ".";
}

}  // namespace

const Keys<StudyStatusQuestion>& study_status_keys() {
  using namespace keys;
  using Q = StudyStatusQuestion;
  static const Keys<Q> all = {
      required(file_key<Q>("ledger", "ledger written by `study run`", &Q::ledger))};
  return all;
}

StudyStatusAnswer answer(const StudyStatusQuestion& question, Observer&) {
  StudyStatusAnswer answer;
  answer.question = question;
  answer.growing = Ledger::is_growing(question.ledger);
  const Ledger ledger = Ledger::read(question.ledger);
  const Study study = study_of(ledger);
  answer.title = study.title;
  answer.progress = progress_of(study, ledger);
  answer.workers = std::max(1U, ledger.workers());
  const std::uint64_t left = answer.progress.of - answer.progress.done;
  answer.seconds_left = static_cast<double>(left) * answer.progress.seconds_each /
                        static_cast<double>(answer.workers);
  answer.instruction_set = ledger.identity().instruction_set;
  for (const auto& [name, digest] : ledger.identity().checksums) {
    answer.checksums.emplace_back(name, digest);
  }
  return answer;
}

Document document_of(const StudyStatusAnswer& answer, Detail detail) {
  const StudyProgress& progress = answer.progress;
  Document document = new_document("study status", answer.title.empty() ? "Study" : answer.title);
  add_progress(document, progress, detail);
  document.add_provenance("instruction set", answer.instruction_set);
  for (const auto& [name, digest] : answer.checksums) {
    if (detail == Detail::full) document.add_provenance("data " + name, digest);
  }
  if (progress.done < progress.of) document.state(StatementKind::info, rest_text(answer));
  document.state(StatementKind::summary, say("{} of {} trials done.", progress.done, progress.of));
  return document;
}

}  // namespace sfumato::lab
