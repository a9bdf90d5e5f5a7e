#include "reproduce/studies.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <system_error>

#include "lab/study/scheduler/run_study.hpp"
#include "lab/study/trial_runner.hpp"
#include "reproduce/embedded_studies.hpp"
#include "sfumato/core/error.hpp"

namespace sfumato::apps {

using namespace lab;
namespace {

std::string ledger_path(const PartContext& context, const std::string& name) {
  const std::filesystem::path directory = std::filesystem::path(context.directory) / "ledgers";
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  if (error) {
    throw StorageError("cannot make this directory: " + error.message(),
                       "Choose a directory that you may write to", Where::in(directory.string()));
  }
  return (directory / fmt::format("{}.{}.ledger", name, apps::name(context.scale))).string();
}

}  // namespace

std::string_view embedded_study(std::string_view name) {
  for (const EmbeddedStudy& study : kEmbeddedStudies) {
    if (study.name == name) return study.text;
  }
  throw InternalError(fmt::format("no study {} was built in", name));
}

Study reduced_study(const PartContext& context, const StudyRequest& request) {
  std::vector<std::string> settings = request.settings;
  settings.insert(settings.end(), context.settings.begin(), context.settings.end());
  return parse_study(embedded_study(request.name), fmt::format("studies/{}.toml", request.name),
                     settings);
}

std::optional<TrainedStudy> train_study(const PartContext& context, const StudyRequest& request) {
  const TrialRunner runner(reduced_study(context, request), context.places);
  const std::string path = ledger_path(context, request.ledger);
  Ledger ledger = Ledger::open(path, runner.identity(), study_differences);
  PrefixObserver observer(request.ledger, *context.observer);
  if (run_study(runner, ledger, context.threads, observer).stopped) return std::nullopt;
  TrainedStudy trained{runner.study(), path,
                       trials_by_policy(ledger, runner.study(), request.score), request.score};
  for (const PolicyTrials& policy : trained.policies) {
    if (policy.failed == 0) continue;
    std::string message;
    ledger.for_each([&](const TrialResult& trial) {
      if (message.empty()) message = trial.message;
    });
    throw NumericalFailure(fmt::format("{} trials failed, the first: {}", policy.failed, message),
                           "Remove the ledger to try them again", Where::in(path));
  }
  return trained;
}

}  // namespace sfumato::apps
