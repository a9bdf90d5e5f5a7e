#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bindings.hpp"
#include "found.hpp"
#include "lab/study/export_answer.hpp"
#include "lab/study/plan_answer.hpp"
#include "lab/study/study_keys.hpp"
#include "lab/train/train_answer.hpp"
#include "lab/train/train_document.hpp"
#include "sfumato/lab/study/run_answer.hpp"
#include "sfumato/lab/study/study_status.hpp"
#include "sfumato/report/json.hpp"
#include "watched.hpp"

namespace sfumato::python {

using namespace lab;
namespace {

template <class Answer>
void keep(Found& found, Answer answer) {
  auto kept = std::make_shared<const Answer>(std::move(answer));
  found.document = [kept](Detail detail) { return document_of(*kept, detail); };
}

Found run(const std::string& study, const std::vector<std::string>& settings,
          const std::string& ledger, unsigned threads, nb::handle progress) {
  Found found;
  watched(progress, [&](Observer& observer) {
    std::optional<StudyRunAnswer> made =
        answer(StudyRunQuestion{study, settings, ledger, threads}, observer);
    found.stopped = made->report.stopped;
    found.text = made->ledger;
    keep(found, std::move(*made));
  });
  return found;
}

Found plan(const std::string& study, const std::vector<std::string>& settings,
           std::optional<double> eps, std::optional<double> delta, std::optional<double> confidence,
           unsigned threads, double seconds, nb::handle progress) {
  Found found;
  watched(progress, [&](Observer& observer) {
    StudyPlanQuestion question{study, settings, eps, delta, confidence, threads};
    question.seconds = seconds;
    keep(found, answer(question, observer));
  });
  return found;
}

Found train(const std::string& study, const std::vector<std::string>& settings,
            const std::string& out, bool resume, bool force, nb::handle progress) {
  Found found;
  watched(progress, [&](Observer& observer) {
    TrainQuestion question;
    question.study = study;
    question.settings = settings;
    question.out = out;
    question.resume = resume;
    question.force = force;
    auto kept = std::make_shared<const TrainAnswer>(answer(question, observer));
    found.stopped = kept->stopped();
    found.document = [kept](Detail detail) { return document_of(*kept, detail); };
  });
  return found;
}

Found status(const std::string& ledger, nb::handle progress) {
  Found found;
  watched(progress,
          [&](Observer& observer) { keep(found, answer(StudyStatusQuestion{ledger}, observer)); });
  return found;
}

Found export_trials(const std::string& ledger, const std::string& out, bool timings, bool force,
                    nb::handle progress) {
  Found found;
  watched(progress, [&](Observer& observer) {
    keep(found, answer(StudyExportQuestion{ledger, out, timings, force}, observer));
  });
  return found;
}

}  // namespace

void bind_studies(nb::module_& module) {
  module.def("study_run", &run, nb::arg("study"), nb::arg("settings"), nb::arg("ledger"),
             nb::arg("threads"), nb::arg("progress").none());
  module.def("study_plan", &plan, nb::arg("study"), nb::arg("settings"), nb::arg("eps").none(),
             nb::arg("delta").none(), nb::arg("confidence").none(), nb::arg("threads"),
             nb::arg("seconds"), nb::arg("progress").none());
  module.def("study_train", &train, nb::arg("study"), nb::arg("settings"), nb::arg("out"),
             nb::arg("resume"), nb::arg("force"), nb::arg("progress").none());
  module.def("study_status", &status, nb::arg("ledger"), nb::arg("progress").none());
  module.def("study_export", &export_trials, nb::arg("ledger"), nb::arg("out"), nb::arg("timings"),
             nb::arg("force"), nb::arg("progress").none());
  module.def("study_keys", [] { return render_json(study_keys_document()); });
}

}  // namespace sfumato::python
