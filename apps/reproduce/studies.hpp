#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lab/study/policy_trials.hpp"
#include "lab/study/spec/study.hpp"
#include "reproduce/part.hpp"

namespace sfumato::apps {

using namespace lab;

/// The text of studies/NAME.toml as it was when the program was built.
/// Throws   InternalError if there is none.
[[nodiscard]] std::string_view embedded_study(std::string_view name);

/// A study whose models are all trained.
struct TrainedStudy {
  Study study;
  std::string ledger;                  ///< path
  std::vector<PolicyTrials> policies;  ///< by `score`
  std::string score;
};

struct StudyRequest {
  std::string name;                        ///< of the study: studies/NAME.toml
  std::string ledger;                      ///< name of its ledger, without directory and suffix
  std::vector<std::string> settings = {};  ///< key=value; those of the context come after
  std::string score = "loss";
};

/// The study with settings, as it will be trained.
[[nodiscard]] Study reduced_study(const PartContext& context, const StudyRequest& request);

/// Trains what the ledger `directory/ledgers/LEDGER.SCALE.ledger` does not hold, and reads it. Nothing if
/// the observer asked to stop before the end.
///
/// Throws   as TrialRunner, Ledger::open() and run_study(); NumericalFailure if trials failed.
[[nodiscard]] std::optional<TrainedStudy> train_study(const PartContext& context,
                                                      const StudyRequest& request);

/// Passes everything on, with `prefix: ` before the names of stages.
class PrefixObserver final : public Observer {
 public:
  PrefixObserver(std::string prefix, Observer& to) : prefix_(std::move(prefix)), to_(to) {}
  void progress(std::string_view stage, std::uint64_t done, std::uint64_t total) override {
    to_.progress(prefix_ + ": " + std::string(stage), done, total);
  }
  void record(std::string_view topic, std::string_view message) override {
    to_.record(topic, message);
  }
  [[nodiscard]] bool stop_requested() const override { return to_.stop_requested(); }

 private:
  std::string prefix_;
  Observer& to_;
};

}  // namespace sfumato::apps
