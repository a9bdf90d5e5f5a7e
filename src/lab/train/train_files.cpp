#include "lab/train/train_files.hpp"

#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "lab/nn/kernel/matrix.hpp"
#include "lab/nn/state_dict.hpp"
#include "lab/study/study_keys.hpp"
#include "sfumato/account/planned_files.hpp"
#include "sfumato/core/error.hpp"
#include "sfumato/data/file_output.hpp"
#include "sfumato/data/npy.hpp"
#include "sfumato/data/npz.hpp"
#include "sfumato/report/json.hpp"
#include "sfumato/version.hpp"

namespace sfumato::lab {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kStudy = "study.toml";
constexpr const char* kLog = "log.json";
constexpr const char* kDocument = "document.json";

std::string parameters_file(const std::string& stem) { return stem + ".npz"; }
std::string moments_file(const std::string& stem) { return stem + ".second_moments.npy"; }

std::string in(const std::string& directory, const std::string& file) {
  return (std::filesystem::path(directory) / file).string();
}

/// Infinities as the strings that documents use too.
Json number(double value) {
  if (std::isnan(value)) return nullptr;
  if (std::isinf(value)) return value > 0.0 ? "inf" : "-inf";
  return value;
}

Json summary_json(const std::optional<ModelSummary>& summary) {
  if (!summary) return nullptr;
  return {{"records", summary->records},
          {"mean_loss", summary->mean_loss},
          {"largest_loss", summary->largest_loss},
          {"accuracy", summary->accuracy}};
}

Json set_json(const LabelledSet& set) {
  return {
      {"name", set.name}, {"records", set.count()}, {"files", set.files}, {"sha256", set.checksum}};
}

Json model_json(const TrainInput& input, const TrainRun& run, std::size_t m) {
  const ModelRecord& record = run.group.models()[m];
  Json json = {
      {"policy", input.policies[record.policy].name},
      {"world", world_name(record.world)},
      {"parameters", parameters_file(file_stem(input.policies[record.policy], record.world))},
      {"status", record.diverged_at ? "diverged" : "ok"},
      {"diverged_at", record.diverged_at ? Json(*record.diverged_at) : Json(nullptr)},
      {"training", record.diverged_at ? Json(nullptr) : summary_json(run.training[m])}};
  if (!run.test.empty()) {
    json["test"] = record.diverged_at ? Json(nullptr) : summary_json(run.test[m]);
  }
  if (input.study.train.path_kl) {
    const PathKlSum& path_kl = record.path_kl;
    Json first = nullptr;
    if (path_kl.first_infinite) {
      first = {
          {"step", path_kl.first_infinite->step},
          {"parameters", path_kl.first_infinite->count},
          {"first", parameter_names(input.network, path_kl.first_infinite->first_coordinates)}};
    }
    json["path_kl"] = {{"nats", number(path_kl.nats)},
                       {"claim", "estimate"},
                       {"differing_steps", path_kl.steps},
                       {"infinite_steps", path_kl.infinite_steps},
                       {"first_infinite", first}};
  }
  Json steps = Json::array(), losses = Json::array();
  for (const LoggedLoss& logged : record.losses) {
    steps.push_back(logged.step);
    losses.push_back(number(logged.loss));
  }
  json["losses"] = {{"step", steps}, {"loss", losses}};
  return json;
}

std::string log_text(const TrainInput& input, const TrainRun& run) {
  Json models = Json::array();
  for (std::size_t m = 0; m < run.group.models().size(); ++m) {
    models.push_back(model_json(input, run, m));
  }
  const SlotChange& change = input.pair.other.changes.front();
  Json log = {{"sfumato", std::string(kVersion)},
              {"study", canonical_text(input.study)},
              {"seed", input.study.train.seed},
              {"notice", seed_notice(input.study.train.seed)},
              {"instruction_set", kernel::instruction_set()},
              {"data", {{"train", set_json(input.sets.train)}}},
              {"adjacency",
               {{"kind", name(input.study.adjacency.kind)},
                {"record", input.pair.slots.records[change.slot] + 1},
                {"slot", change.slot},
                {"label_in_d", input.pair.slots.labels[change.slot]},
                {"replaced_by", change.empty ? Json(nullptr) : Json(change.record + 1)}}},
              {"parameters", input.network.parameter_count()},
              {"steps", run.group.step()},
              {"seconds", run.seconds},
              {"resumed_at", run.resumed_at},
              {"models", models}};
  if (input.sets.test) log["data"]["test"] = set_json(*input.sets.test);
  return log.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

void write_parameters(const std::string& path, const Network& network,
                      const std::vector<float>& parameters, const WriteRules& rules) {
  NpzWriter writer;
  for (const NamedTensor& tensor : state_dict(network, parameters)) {
    writer.add(tensor.name, tensor.values, tensor.shape);
  }
  writer.write(path, Compression::stored, rules);
}

/// Mean over all steps of (g_i - g'_i)^2, in the order of the network's parameters: what a covariance
/// file for this network is designed from.
void write_second_moments(const std::string& path, const ModelRecord& record, std::uint64_t steps,
                          const WriteRules& rules) {
  const Eigen::Map<const Eigen::VectorXd> sums(record.squared_differences.data(),
                                               std::ssize(record.squared_differences));
  write_npy(path, vector_array(sums / static_cast<double>(steps)), rules);
}

/// A run that goes on replaces what it wrote before it was stopped.
WriteRules rules_of(const TrainQuestion& question) { return {question.force || question.resume}; }

/// Everything that a run leaves in its directory.
std::vector<PlannedFile> planned_files(const TrainQuestion& question, const TrainInput& input) {
  const std::string& directory = question.out;
  std::vector<PlannedFile> files;
  for (const char* name : {kStudy, kLog, kDocument}) files.push_back({"out", in(directory, name)});
  for (const NoisePolicy& policy : input.policies) {
    for (const std::size_t world : {std::size_t{0}, std::size_t{1}}) {
      const std::string stem = in(directory, file_stem(policy, world));
      files.push_back({"out", parameters_file(stem)});
      if (input.study.train.gradient_differences) files.push_back({"out", moments_file(stem)});
    }
  }
  return files;
}

}  // namespace

void prepare_directory(const TrainQuestion& question, const TrainInput& input) {
  const std::string& directory = question.out;
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  if (error || !std::filesystem::is_directory(directory)) {
    throw StorageError(fmt::format("cannot create the directory: {}",
                                   error ? error.message() : "there is a file of that name"),
                       "Choose another directory (`out`)", Where::in(directory));
  }
  for (const char* name : {"accounting.toml", "PRIVACY.md"}) {
    if (!std::filesystem::exists(in(directory, name))) continue;
    throw StorageError("is of a model with a guarantee, and would stand beside models without one",
                       "Choose another directory (`out`)", Where::in(in(directory, name)));
  }
  prepare_outputs(input_files(input.study), planned_files(question, input),
                  rules_of(question).replace);
}

void write_results(const TrainAnswer& answer) {
  const TrainInput& input = answer.input;
  const TrainRun& run = answer.run;
  const std::string& out = answer.question.out;
  const WriteRules rules = rules_of(answer.question);
  write_file(in(out, kStudy), canonical_text(input.study), rules);
  for (std::size_t m = 0; m < run.group.models().size(); ++m) {
    const ModelRecord& record = run.group.models()[m];
    const std::string stem = in(out, file_stem(input.policies[record.policy], record.world));
    write_parameters(parameters_file(stem), input.network, run.group.parameters(m), rules);
    if (input.study.train.gradient_differences) {
      write_second_moments(moments_file(stem), record, run.group.step(), rules);
    }
  }
  write_file(in(out, kLog), log_text(input, run), rules);
}

void write_document(const TrainQuestion& question, const Document& document) {
  write_file(in(question.out, kDocument), render_json(document), rules_of(question));
}

}  // namespace sfumato::lab
