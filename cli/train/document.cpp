#include "train/document.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

#include "sfumato/core/overloaded.hpp"
#include "sfumato/nn/kernel/matrix.hpp"
#include "sfumato/report/figure.hpp"
#include "sfumato/study/seed_notice.hpp"
#include "train/difference_figures.hpp"

namespace sfumato::cli {
namespace {

std::string layer_text(const Network& network, std::size_t i) {
  const NamedLayer& named = network.layers()[i];
  const std::string kind = std::visit(
      Overloaded{[](const Linear& l) { return fmt::format("linear {}", l.outputs); },
                 [](const Conv2d& c) {
                   std::string text = fmt::format("conv2d {0} of {1} x {1}", c.channels, c.kernel);
                   if (c.stride != 1) text += fmt::format(" stride {}", c.stride);
                   if (c.padding != 0) text += fmt::format(" padding {}", c.padding);
                   return text;
                 },
                 [](const MaxPool2d& p) { return fmt::format("max_pool {}", p.size); },
                 [](const AvgPool2d& p) { return fmt::format("avg_pool {}", p.size); },
                 [](const Relu&) { return std::string("relu"); },
                 [](const Tanh&) { return std::string("tanh"); },
                 [](const Flatten&) { return std::string("flatten"); }},
      named.layer);
  return kind == named.name ? kind : fmt::format("{} ({})", named.name, kind);
}

std::string network_text(const TrainInput& input) {
  std::vector<std::string> layers;
  for (std::size_t i = 0; i < input.network.layers().size(); ++i) {
    layers.push_back(layer_text(input.network, i));
  }
  const std::string& preset = input.study.model.preset;
  return fmt::format("Network{}: {} parameters; {} -> {}, softmax cross-entropy.",
                     preset.empty() ? "" : fmt::format(" {}", preset),
                     input.network.parameter_count(), input.network.input().text(),
                     fmt::join(layers, ", "));
}

std::string data_text(const TrainInput& input) {
  const DataSpec& data = input.study.data;
  const LabelledSet& train = input.sets.train;
  std::string inputs;
  switch (data.standardise) {
    case StandardiseBy::public_constants:
      inputs = "standardised by the set's public constants";
      break;
    case StandardiseBy::none: inputs = data.is_table() ? "as they are" : "pixels / 255"; break;
    case StandardiseBy::constants:
      inputs = "standardised by the study's constants, taken to be public";
      break;
  }
  return fmt::format("D: N = {} of the {} records of {}, drawn with seed {}, {}.",
                     input.pair.slots.count(), train.count(), train.name, data.seed, inputs);
}

std::string adjacency_text(const TrainInput& input) {
  const SlotChange& change = input.pair.other.changes.front();
  const auto label = static_cast<int>(input.pair.slots.labels[change.slot]);
  const std::uint32_t record = input.pair.slots.records[change.slot];
  const auto own = static_cast<int>(input.sets.train.labels[record]);
  std::string text =
      fmt::format("The differing record is number {} of the set, class {}", record, own);
  if (label != own) text += fmt::format(", a canary: labelled {} in D", label);
  text += ". ";
  text +=
      change.empty
          ? "In D' its slot is empty: it is drawn into batches, but its gradient counts as zero, "
            "and sums are divided by the nominal batch size (zero-out adjacency)."
          : fmt::format("In D' record {}, class {}, is in its place: one slot is replaced.",
                        change.record, static_cast<int>(change.label));
  return text + " N is the same in both worlds and public.";
}

std::string training_text(const TrainInput& input) {
  const Training& train = input.study.train;
  return fmt::format(
      "{} iterations on batches of {} ({}), {} of the losses, learning rate {}, seed {}. All "
      "models "
      "share initial weights, batches and normals.",
      train.iterations, train.batch_size, name(train.batches),
      train.loss == LossScale::mean ? "mean" : "sum", train.learning_rate, train.seed);
}

Table policy_table(const TrainInput& input) {
  Table table(
      "noise", "Noise added to every step",
      {{"policy", "name"}, {"kind", "policy"}, {"variance", "sigma^2"}, {"reading", "read as"}});
  for (const NoisePolicy& policy : input.policies) {
    const bool none = policy.kind == NoiseKind::none;
    table.add_row({policy.name, name(policy.kind), none ? Cell(Empty{}) : Cell(policy.variance),
                   none ? Cell(Empty{}) : Cell(name(policy.reading))});
  }
  return table;
}

std::string status_of(const ModelRecord& record) {
  return record.diverged_at ? fmt::format("diverged at step {}", *record.diverged_at) : "ok";
}

Table model_table(const TrainInput& input, const TrainResult& result) {
  std::vector<Column> columns = {{"policy", "noise"},
                                 {"world", "world"},
                                 {"loss", "mean training loss"},
                                 {"largest_loss", "largest of a record"},
                                 {"train_accuracy", "training accuracy"}};
  if (!result.test.empty()) {
    columns.push_back({"test_loss", "mean test loss"});
    columns.push_back({"test_accuracy", "test accuracy"});
  }
  columns.push_back({"status", "status"});
  Table table("models", "Models at the end of training", std::move(columns), 2);
  for (std::size_t m = 0; m < result.group.models(); ++m) {
    const ModelRecord& record = result.group.records()[m];
    std::vector<Cell> row = {input.policies[record.policy].name, world_name(record.world)};
    const auto add = [&](const std::optional<ModelSummary>& summary, double ModelSummary::*member) {
      const bool known = summary && !record.diverged_at;
      row.push_back(known ? Cell(Claimed<double>{(*summary).*member, Claim::exact,
                                                 "of these weights, in single precision"})
                          : Cell(Empty{"diverged"}));
    };
    add(result.training[m], &ModelSummary::mean_loss);
    add(result.training[m], &ModelSummary::largest_loss);
    add(result.training[m], &ModelSummary::accuracy);
    if (!result.test.empty()) {
      add(result.test[m], &ModelSummary::mean_loss);
      add(result.test[m], &ModelSummary::accuracy);
    }
    row.emplace_back(status_of(record));
    table.add_row(std::move(row));
  }
  return table;
}

void add_odometer(Document& document, const TrainInput& input, const TrainResult& result) {
  Table table("odometer", "Odometer: KL between the steps of D and D', summed along one chain",
              {{"policy", "noise"},
               {"along", "along"},
               {"divergence", "divergence"},
               {"path_kl", "sum", "nats"},
               {"differing_steps", "differing steps"},
               {"infinite_steps", "infinite steps"}},
              2);
  std::vector<std::string> infinite;
  for (const ModelRecord& record : result.group.records()) {
    const std::string& policy = input.policies[record.policy].name;
    const std::string along = world_name(record.world);
    const Odometer& odometer = record.odometer;
    table.add_row(
        {policy, along, record.world == 0 ? "KL(D||D')" : "KL(D'||D)",
         Claimed<double>{odometer.nats, Claim::estimate,
                         "sum over one run: one draw of a random number whose mean is the "
                         "KL of the paths"},
         odometer.steps, odometer.infinite_steps});
    if (!odometer.first_infinite) continue;
    const Odometer::Infinite& first = *odometer.first_infinite;
    infinite.push_back(fmt::format(
        "along {} with the noise {} the odometer is infinite: in {} of {} differing steps a "
        "parameter "
        "had noise in one world only, or moved without any. In step {} these were {}: {}{}.",
        along, policy, odometer.infinite_steps, odometer.steps, first.step, first.count,
        fmt::join(parameter_names(input.network, first.first_coordinates), ", "),
        first.count > first.first_coordinates.size() ? ", ..." : ""));
  }
  document.add(std::move(table));
  for (std::string& text : infinite) document.state(StatementKind::warning, std::move(text));
}

void add_speed(Document& document, const TrainResult& result) {
  const auto steps = static_cast<double>(result.group.step());
  const auto models = static_cast<double>(result.group.models());
  if (!(result.seconds > 0.0)) return;
  Table table("speed", "Speed", {{"quantity", "quantity"}, {"value", "value"}, {"unit", "unit"}});
  const char* method = "wall clock of this run, one thread";
  const auto measured = [&](double value) {
    return Claimed<double>{value, Claim::estimate, method};
  };
  table.add_row({"time of all steps", measured(result.seconds), "s"});
  table.add_row(
      {"per model and iteration", measured(1e6 * result.seconds / (steps * models)), "us"});
  table.add_row({"iterations of the group", measured(steps / result.seconds), "1/s"});
  document.add(std::move(table));
}

void add_curves(Document& document, const TrainInput& input, const TrainResult& result) {
  Figure figure("losses", "Loss along training", Mark::line, {"step"},
                {"mean loss of the step's batch"});
  bool any = false;
  for (const ModelRecord& record : result.group.records()) {
    if (record.losses.empty()) continue;
    Series series{
        file_stem(input.policies[record.policy], record.world),
        fmt::format("{} in {}", input.policies[record.policy].name, world_name(record.world)),
        {},
        {}};
    for (const LoggedLoss& logged : record.losses) {
      series.x.push_back(static_cast<double>(logged.step));
      series.y.push_back(logged.loss);
    }
    figure.add(std::move(series));
    any = true;
  }
  if (any) document.add(std::move(figure));
}

}  // namespace

void add_setting(Document& document, const TrainInput& input) {
  document.state(StatementKind::info, data_text(input));
  document.state(StatementKind::info, adjacency_text(input));
  document.state(StatementKind::info, network_text(input));
  document.state(StatementKind::info, training_text(input));
  document.add(policy_table(input));
  document.add_provenance("study", input.study.source);
  document.add_provenance("seed", fmt::format("{}", input.study.train.seed));
  document.add_provenance("data", input.sets.train.checksum);
  document.add_provenance("instruction set", kernel::instruction_set());
}

void add_results(Document& document, const TrainInput& input, const TrainResult& result) {
  for (const std::string& note : result.notes) document.state(StatementKind::warning, note + ".");
  document.add(model_table(input, result));
  if (input.study.train.odometer) add_odometer(document, input, result);
  add_curves(document, input, result);
  add_difference_figures(document, input, result);
  add_speed(document, result);
  for (const NoisePolicy& policy : input.policies) {
    document.state(StatementKind::warning,
                   fmt::format("{}: {}", policy.name, what_a_guarantee_needs(policy)));
  }
  document.state(StatementKind::warning, seed_notice(input.study.train.seed));
  document.state(StatementKind::assumption,
                 "this is one run of one pair D, D'. No epsilon is printed because none is "
                 "guaranteed, and the accuracies describe these models alone.");
}

void add_keys(Document& document) {
  const std::vector<KeyInfo> keys = study_keys();
  for (std::size_t i = 0; i < keys.size();) {
    const std::string& table = keys[i].table;
    const bool list = table == "noise" || table == "model.layers";
    const std::string title =
        table.empty() ? "At the top of the file"
                      : (list ? fmt::format("[[{}]]", table) : fmt::format("[{}]", table));
    Table rows(table.empty() ? "top" : table, title,
               {{"key", "key"}, {"default", "default"}, {"type", "type"}, {"help", "meaning"}});
    for (; i < keys.size() && keys[i].table == table; ++i) {
      const KeyInfo& info = keys[i];
      std::string names = info.key;
      for (const std::string& alias : info.aliases) names += fmt::format(", {}", alias);
      const Cell fallback = info.fallback.empty() ? Cell(Empty{}) : Cell(info.fallback);
      rows.add_row({names, info.required ? Cell("required") : fallback, info.type, info.help});
    }
    document.add(std::move(rows));
  }
}

}  // namespace sfumato::cli
