#include "lab/train/train_document.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <string>
#include <vector>

#include "lab/nn/kernel/matrix.hpp"
#include "lab/study/study_keys.hpp"
#include "lab/train/parameter_figures.hpp"
#include "lab/train/train_answer.hpp"
#include "lab/train/train_question.hpp"
#include "lab/train/train_run.hpp"
#include "sfumato/core/overloaded.hpp"
#include "sfumato/report/document.hpp"
#include "sfumato/report/figure.hpp"
#include "sfumato/report/number.hpp"

namespace sfumato::lab {
namespace {

constexpr const char* kLanczos = "Lanczos, from below";

std::vector<Column> columns_of(std::initializer_list<Column> more) {
  std::vector<Column> columns = {{"policy", "noise"}, {"world", "data set"}};
  columns.insert(columns.end(), more);
  return columns;
}

Claimed<double> estimate(double value, const char* method) {
  return {value, Claim::estimate, method};
}

Claimed<double> exact(double value, const char* method) { return {value, Claim::exact, method}; }

/// One row per model that was looked at; `cells` gives what comes after noise and world.
template <class Measure, class Cells>
void add_table(Document& document, Table table, const TrainAnswer& answer,
               const std::vector<std::optional<Measure>>& measures, const char* missing,
               Cells&& cells) {
  const std::size_t columns = table.columns().size();
  for (std::size_t m = 0; m < measures.size(); ++m) {
    const ModelRecord& record = answer.run.group.models()[m];
    std::vector<Cell> row = {answer.input.policies[record.policy].name, world_name(record.world)};
    if (measures[m]) {
      for (Cell& cell : cells(*measures[m])) row.push_back(std::move(cell));
    } else {
      row.resize(columns, Cell(Empty{record.diverged_at ? "diverged" : missing}));
    }
    table.add_row(std::move(row));
  }
  document.add(std::move(table));
}

void add_hessian(Document& document, const TrainAnswer& answer) {
  Table table("hessian",
              fmt::format("Curvature of the {} of the training losses",
                          answer.input.study.train.loss == LossScale::mean ? "mean" : "sum"),
              columns_of({{"trace", "tr H"},
                          {"standard_error", "standard error"},
                          {"largest", "largest eigenvalue"},
                          {"residual", "residual"}}),
              2);
  add_table(document, std::move(table), answer, answer.measures.hessian, "",
            [](const HessianMeasure& h) {
              return std::vector<Cell>{estimate(h.trace.value.value, "Hutchinson, 30 probes"),
                                       h.trace.value.standard_error,
                                       estimate(h.largest_eigenvalue.value.value, kLanczos),
                                       h.largest_eigenvalue.value.residual};
            });
}

void add_flatness(Document& document, const TrainAnswer& answer) {
  const bool replaced = !answer.input.pair.other.changes.front().empty;
  Table table("flatness",
              replaced ? "Difference that the two records make to the gradient of the summed loss"
                       : "Difference that the record makes to the gradient of the summed loss",
              columns_of({{"gradient_difference", "|grad f(D) - grad f(D')|"},
                          {"mixed_norm", "largest |J|"},
                          {"bound", "|d - d'| |J|"},
                          {"respected", "respected"}}),
              2);
  add_table(document, std::move(table), answer, answer.measures.flatness, "",
            [](const FlatnessMeasure& f) {
              std::vector<Cell> cells = {
                  exact(f.gradient_difference, "gradients in double precision"),
                  estimate(f.mixed_norm, f.segment ? "Lanczos, 17 points between the records"
                                                   : "Lanczos, at the record")};
              if (f.segment) {
                const RecordSensitivity& s = f.segment->value;
                cells.emplace_back(estimate(s.bound, "product"));
                cells.emplace_back(s.respected ? std::string("yes")
                                               : fmt::format("no ({} kinks)", s.switches));
              } else {
                cells.insert(cells.end(), 2, Cell(Empty{"D' has no record to compare with"}));
              }
              return cells;
            });
}

void add_covariance(Document& document, const TrainAnswer& answer) {
  Table table(
      "covariance", "Minibatch noise: covariance of the gradient of a step",
      columns_of({{"trace", "trace"}, {"largest", "largest eigenvalue"}, {"residual", "residual"}}),
      2);
  add_table(document, std::move(table), answer, answer.measures.covariance,
            "not for Poisson batches", [](const CovarianceMeasure& c) {
              return std::vector<Cell>{exact(c.trace, "Spec §10"),
                                       estimate(c.largest_eigenvalue, kLanczos), c.residual};
            });
}

void add_noise(Document& document, const TrainAnswer& answer) {
  if (answer.measures.noise.empty()) return;
  for (Figure& figure :
       parameter_figures(answer.input.network, answer.measures.noise,
                         {"noise", "Where the noise goes", "mean variance of a parameter",
                          "variance of a step at the final weights of D, using the mean gradient "
                          "of all records in place of that of a batch"})) {
    if (figure.mark() == Mark::image) {
      figure.set_caption(
          "Noise scaled by gradients depends on private data: the picture may reveal records.");
    }
    document.add(std::move(figure));
  }
}

/// What was measured of the final models, as tables; figures of the noise only in full. Nothing if nobody asked.
void add_measures(Document& document, const TrainAnswer& answer, Detail detail) {
  const TrainQuestion& question = answer.question;
  if (question.measures.empty()) return;
  if (question.wants(TrainMeasure::hessian)) add_hessian(document, answer);
  if (question.wants(TrainMeasure::flatness)) add_flatness(document, answer);
  if (question.wants(TrainMeasure::covariance)) add_covariance(document, answer);
  if (detail == Detail::full) add_noise(document, answer);
  if (answer.measures.stopped) {
    document.state(StatementKind::warning, "stopped: measures are incomplete.");
  }
  document.state(StatementKind::info,
                 "Curvature, mixed derivative and minibatch noise describe these models; no "
                 "guarantee follows from them (Spec §10).");
}

/// Where the record shows in the gradients, along the models of D: the squared differences by layer, and
/// over the pixels of the input where the first weights belong to pixels. Nothing unless the study
/// kept them (train.gradient_differences).
void add_difference_figures(Document& document, const TrainInput& input, const TrainRun& run) {
  if (!input.study.train.gradient_differences || run.group.step() == 0) return;
  const auto steps = static_cast<double>(run.group.step());
  std::vector<ParameterField> fields;
  for (const ModelRecord& record : run.group.models()) {
    if (record.world != 0 || record.squared_differences.empty()) continue;
    ParameterField field{input.policies[record.policy].name, record.squared_differences};
    for (double& value : field.values) value /= steps;
    fields.push_back(std::move(field));
  }
  if (fields.empty()) return;
  for (Figure& figure : parameter_figures(input.network, fields,
                                          {"differences",
                                           "Where the record is visible: differences of the "
                                           "gradients",
                                           "mean squared difference of a parameter",
                                           "mean over the steps of (g_i - g'_i)^2, one run"})) {
    figure.set_caption(figure.mark() == Mark::image
                           ? "Computed from private data: the picture may reveal the record itself."
                           : "Noise designed for these differences follows their square roots.");
    document.add(std::move(figure));
  }
}

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
                 [](const Sigmoid&) { return std::string("sigmoid"); },
                 [](const FixedMap&) { return std::string("fixed map"); },
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

/// What is trained, a sentence or two each: the records of D, what D' has instead, the network, the steps.
std::string data_text(const TrainInput& input) {
  const DataSpec& data = input.study.data;
  const LabelledSet& train = input.sets.train;
  std::string inputs;
  switch (data.standardise) {
    case StandardiseBy::public_constants:
      inputs = "standardised by the set's public constants";
      break;
    case StandardiseBy::none: inputs = data.is_table() ? "unscaled" : "pixels / 255"; break;
    case StandardiseBy::constants:
      inputs = "standardised by the study's constants, assumed to be public";
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
      fmt::format("The differing record is number {} of the set, class {}", record + 1, own);
  if (label != own) text += fmt::format(", a canary: labelled {} in D", label);
  text += ". ";
  text +=
      change.empty
          ? "In D' its slot is empty: batches may draw it, but its gradient is zero, and sums are "
            "divided by the nominal batch size (zero-out adjacency)."
          : fmt::format("In D' it is replaced by record {}, class {}.", change.record + 1,
                        static_cast<int>(change.label));
  return text + " N is public and the same for D and D'.";
}

std::string training_text(const TrainInput& input) {
  const Training& train = input.study.train;
  return fmt::format(
      "{} iterations on batches of {} ({}), {} of the losses, learning rate {}, seed {}. All "
      "models share initial weights, batches and Gaussian draws.",
      train.iterations, train.batch_size, name(train.batches),
      train.loss == LossScale::mean ? "mean" : "sum", train.learning_rate, train.seed);
}

Table policy_table(const TrainInput& input) {
  Table table(
      "noise", "Noise added to every step",
      {{"policy", "name"}, {"kind", "policy"}, {"variance", "sigma^2"}, {"reading", "read as"}});
  for (const NoisePolicy& policy : input.policies) {
    const ScaledNoise* scaled = scaled_noise(policy.rule);
    table.add_row({policy.name, name(policy.rule),
                   scaled == nullptr ? Cell(Empty{}) : Cell(scaled->variance),
                   scaled == nullptr ? Cell(Empty{}) : Cell(name(scaled->interpretation))});
  }
  return table;
}

std::string status_of(const ModelRecord& record) {
  return record.diverged_at ? fmt::format("diverged at step {}", *record.diverged_at) : "ok";
}

Cell summary_cell(const ModelRecord& record, const std::optional<ModelSummary>& summary,
                  double ModelSummary::*member) {
  if (!summary || record.diverged_at) return Empty{"diverged"};
  return Claimed<double>{(*summary).*member, Claim::exact, "of these weights, in single precision"};
}

Table model_table(const TrainInput& input, const TrainRun& run) {
  std::vector<Column> columns = {{"policy", "noise"},
                                 {"world", "data set"},
                                 {"loss", "mean training loss"},
                                 {"largest_loss", "largest loss of a record"},
                                 {"train_accuracy", "training accuracy"}};
  if (!run.test.empty()) {
    columns.push_back({"test_loss", "mean test loss"});
    columns.push_back({"test_accuracy", "test accuracy"});
  }
  columns.push_back({"status", "status"});
  Table table("models", "Models at the end of training", std::move(columns), 2);
  for (std::size_t m = 0; m < run.group.models().size(); ++m) {
    const ModelRecord& record = run.group.models()[m];
    std::vector<Cell> row = {input.policies[record.policy].name, world_name(record.world)};
    const auto add = [&](const std::optional<ModelSummary>& summary, double ModelSummary::*member) {
      row.push_back(summary_cell(record, summary, member));
    };
    add(run.training[m], &ModelSummary::mean_loss);
    add(run.training[m], &ModelSummary::largest_loss);
    add(run.training[m], &ModelSummary::accuracy);
    if (!run.test.empty()) {
      add(run.test[m], &ModelSummary::mean_loss);
      add(run.test[m], &ModelSummary::accuracy);
    }
    row.emplace_back(status_of(record));
    table.add_row(std::move(row));
  }
  return table;
}

constexpr const char* kPathKlMethod =
    "sum over one run: one draw of a random variable whose mean is the KL of the paths";

std::string direction_name(std::size_t world) { return world == 0 ? "KL(D||D')" : "KL(D'||D)"; }

std::string infinite_text(const TrainInput& input, const ModelRecord& record) {
  const PathKlSum& path = record.path_kl;
  const PathKlSum::Infinite& first = *path.first_infinite;
  return fmt::format(
      "along {} with the noise {} the path KL is infinite: in {} of {} differing steps a "
      "parameter got noise on D or D' only, or moved without any. In step {} these were {}: "
      "{}{}.",
      world_name(record.world), input.policies[record.policy].name, path.infinite_steps, path.steps,
      first.step, first.count,
      fmt::join(parameter_names(input.network, first.first_coordinates), ", "),
      first.count > first.first_coordinates.size() ? ", and others" : "");
}

void add_path_kl(Document& document, const TrainInput& input, const TrainRun& run) {
  Table table("path_kl", "Path KL: KL between the steps of D and D', summed along one run",
              {{"policy", "noise"},
               {"along", "along"},
               {"divergence", "divergence"},
               {"path_kl", "sum", "nats"},
               {"differing_steps", "differing steps"},
               {"infinite_steps", "infinite steps"}},
              2);
  for (const ModelRecord& record : run.group.models()) {
    table.add_row({input.policies[record.policy].name, world_name(record.world),
                   direction_name(record.world),
                   Claimed<double>{record.path_kl.nats, Claim::estimate, kPathKlMethod},
                   record.path_kl.steps, record.path_kl.infinite_steps});
  }
  document.add(std::move(table));
  for (const ModelRecord& record : run.group.models()) {
    if (!record.path_kl.first_infinite) continue;
    document.state(StatementKind::warning, infinite_text(input, record));
  }
}

void add_speed(Document& document, const TrainRun& run) {
  const auto steps = static_cast<double>(run.group.step());
  const auto models = static_cast<double>(run.group.models().size());
  if (!(run.seconds > 0.0)) return;
  Table table("speed", "Speed", {{"quantity", "quantity"}, {"value", "value"}, {"unit", "unit"}});
  const char* method = "wall time of this run, one thread";
  const auto measured = [&](double value) {
    return Claimed<double>{value, Claim::estimate, method};
  };
  table.add_row({"time of all steps", measured(run.seconds), "s"});
  table.add_row(
      {"per model and iteration", measured(1e6 * run.seconds / (steps * models)), "microseconds"});
  table.add_row({"iterations of the group", measured(steps / run.seconds), "1/s"});
  document.add(std::move(table));
}

void add_curves(Document& document, const TrainInput& input, const TrainRun& run) {
  Figure figure("losses", "Loss during training", Mark::line, {"step"},
                {"mean loss of the step's batch"});
  bool any = false;
  for (const ModelRecord& record : run.group.models()) {
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
  figure.set_caption("Of the batch of a step, at the steps that were logged.");
  if (any) document.add(std::move(figure));
}

/// The models of a policy in brief: those of D, and the larger path KL of the two directions.
Table brief_table(const TrainInput& input, const TrainRun& run) {
  std::vector<Column> columns = {
      {"policy", "noise"}, {"loss", "loss"}, {"train_accuracy", "accuracy"}};
  if (!run.test.empty()) columns.push_back({"test_accuracy", "test accuracy"});
  if (input.study.train.path_kl) columns.push_back({"path_kl", "path KL", "nats"});
  const auto diverged = [](const ModelRecord& record) { return record.diverged_at.has_value(); };
  const bool any_diverged =
      std::any_of(run.group.models().begin(), run.group.models().end(), diverged);
  if (any_diverged) columns.push_back({"status", "status"});
  Table table("models", "Models of D at the end of training", std::move(columns));
  for (std::size_t m = 0; m < run.group.models().size(); ++m) {
    const ModelRecord& record = run.group.models()[m];
    if (record.world != 0) continue;
    std::vector<Cell> row = {input.policies[record.policy].name};
    row.push_back(summary_cell(record, run.training[m], &ModelSummary::mean_loss));
    row.push_back(summary_cell(record, run.training[m], &ModelSummary::accuracy));
    if (!run.test.empty()) {
      row.push_back(summary_cell(record, run.test[m], &ModelSummary::accuracy));
    }
    if (input.study.train.path_kl) {
      double nats = 0.0;
      for (const ModelRecord& other : run.group.models()) {
        if (other.policy == record.policy) nats = std::max(nats, other.path_kl.nats);
      }
      row.emplace_back(Claimed<double>{nats, Claim::estimate, kPathKlMethod});
    }
    if (any_diverged) row.emplace_back(status_of(record));
    table.add_row(std::move(row));
  }
  return table;
}

void add_model_results(Document& document, const TrainInput& input, const TrainRun& run) {
  for (std::size_t m = 0; m < run.group.models().size(); ++m) {
    const ModelRecord& record = run.group.models()[m];
    const std::vector<std::pair<std::string, Cell>> of = {
        {"policy", input.policies[record.policy].name}, {"world", world_name(record.world)}};
    const auto add = [&](const char* quantity, const std::optional<ModelSummary>& summary,
                         double ModelSummary::*member) {
      document.add_result(quantity, summary_cell(record, summary, member), of);
    };
    add("training_loss", run.training[m], &ModelSummary::mean_loss);
    add("training_accuracy", run.training[m], &ModelSummary::accuracy);
    if (!run.test.empty()) {
      add("test_loss", run.test[m], &ModelSummary::mean_loss);
      add("test_accuracy", run.test[m], &ModelSummary::accuracy);
    }
    if (!input.study.train.path_kl) continue;
    document.add_result("path_kl",
                        Claimed<double>{record.path_kl.nats, Claim::estimate, kPathKlMethod}, of);
  }
}

void add_setting(Document& document, const TrainInput& input) {
  document.state(StatementKind::info, data_text(input));
  document.state(StatementKind::info, adjacency_text(input));
  document.state(StatementKind::info, network_text(input));
  document.state(StatementKind::info, training_text(input));
  document.add(policy_table(input));
}

void add_provenance(Document& document, const TrainInput& input, Detail detail) {
  document.add_provenance("study", input.study.source);
  document.add_provenance("seed", fmt::format("{}", input.study.train.seed));
  if (detail == Detail::brief) return;
  document.add_provenance("data", input.sets.train.checksum);
  document.add_provenance("instruction set", kernel::instruction_set());
}

void add_results(Document& document, const TrainInput& input, const TrainRun& run, Detail detail) {
  for (const std::string& note : run.notes) document.state(StatementKind::warning, note + ".");
  if (detail == Detail::brief) {
    document.add(brief_table(input, run));
  } else {
    document.add(model_table(input, run));
    if (input.study.train.path_kl) add_path_kl(document, input, run);
    add_curves(document, input, run);
    add_difference_figures(document, input, run);
    add_speed(document, run);
    for (const NoisePolicy& policy : input.policies) {
      document.state(StatementKind::warning,
                     fmt::format("{}: {}", policy.name, what_a_guarantee_needs(policy.rule)));
    }
  }
  document.state(StatementKind::warning, seed_notice(input.study.train.seed));
  document.state(StatementKind::assumption,
                 "this is one run of one pair D, D'. No epsilon is printed because none is "
                 "guaranteed, and the accuracies describe these models only.");
  add_model_results(document, input, run);
}

/// "test accuracy 0.7265 and a path KL of 24.6 nats": what a policy came to, of the model of D.
std::string policy_text(const TrainInput& input, const TrainRun& run, std::size_t model) {
  const ModelRecord& record = run.group.models()[model];
  if (record.diverged_at) return "diverged";
  const bool tested = !run.test.empty();
  const std::optional<ModelSummary>& summary = tested ? run.test[model] : run.training[model];
  std::string text = summary ? fmt::format("{} accuracy {}", tested ? "test" : "training",
                                           format_number(summary->accuracy, Rounding::nearest, 3))
                             : std::string("trained");
  if (!input.study.train.path_kl) return text;
  double nats = 0.0;
  for (const ModelRecord& other : run.group.models()) {
    if (other.policy == record.policy) nats = std::max(nats, other.path_kl.nats);
  }
  return text + (std::isfinite(nats)
                     ? fmt::format(", path KL {} nats", format_number(nats, Rounding::nearest, 3))
                     : std::string(", infinite path KL"));
}

/// The top of the page. One run is no evidence, and says so.
Abstract abstract_of(const TrainInput& input, const TrainRun& run) {
  constexpr std::size_t kMostPolicies = 4;
  Abstract abstract;
  abstract.asked =
      "How accurate are models with this noise, and how much do their steps depend on one "
      "training record?";
  std::vector<std::string> texts;
  for (std::size_t m = 0; m < run.group.models().size(); ++m) {
    const ModelRecord& record = run.group.models()[m];
    if (record.world != 0) continue;
    texts.push_back(
        fmt::format("{}: {}", input.policies[record.policy].name, policy_text(input, run, m)));
  }
  abstract.answer =
      texts.size() <= kMostPolicies
          ? fmt::format("{}.", fmt::join(texts, "; "))
          : fmt::format("{} kinds of noise were trained: see the table of models.", texts.size());
  abstract.released =
      "Nothing: the noise comes from a seed, so these models are for measurements only.";
  abstract.advice =
      "One run is one random draw. To measure what such models reveal, train many and audit them "
      "(sfumato study run, sfumato audit); for a model to publish, sfumato train --private.";
  return abstract;
}

/// A word as a POSIX shell reads it back.
std::string shell_word(const std::string& word) {
  const std::string_view plain = "_-+./=:,@%";
  const bool is_plain = std::all_of(word.begin(), word.end(), [&](unsigned char c) {
    return std::isalnum(c) != 0 || plain.find(static_cast<char>(c)) != std::string_view::npos;
  });
  if (is_plain && !word.empty()) return word;
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

std::string resume_command(const TrainQuestion& question) {
  std::string line = "sfumato train " + shell_word(question.study);
  for (const std::string& setting : question.settings) line += " --set " + shell_word(setting);
  if (!question.out.empty()) line += " --out " + shell_word(question.out);
  return line + " --resume";
}

void state_stop(Document& document, const TrainAnswer& answer) {
  document.state(StatementKind::warning,
                 fmt::format("stopped after {} of {} iterations.", answer.run.group.step(),
                             answer.input.study.train.iterations));
  document.state(StatementKind::summary,
                 fmt::format("The state is saved in {}. To continue: {}",
                             checkpoint_path(answer.question), resume_command(answer.question)));
}

void state_files(Document& document, const TrainAnswer& answer) {
  const std::string& out = answer.question.out;
  if (out.empty()) return;
  document.state(
      StatementKind::summary,
      fmt::format("Parameters (NPZ, in PyTorch's layout), log.json and document.json are in {}.",
                  out));
  if (!answer.input.study.train.gradient_differences) return;
  document.state(
      StatementKind::summary,
      fmt::format("Noise for these gradient differences: sfumato design --second-moments "
                  "{}/{}.d.second_moments.npy --differences-are private --trace 1 --out noise.npz",
                  out, answer.input.policies.front().name));
}

}  // namespace

Document document_of(const TrainAnswer& answer, Detail detail) {
  const TrainInput& input = answer.input;
  Document document =
      new_document("train", input.study.title.empty() ? "Training of " + answer.question.study
                                                      : input.study.title);
  if (detail == Detail::full) add_setting(document, input);
  add_provenance(document, input, detail);
  if (!answer.finished()) {
    state_stop(document, answer);
    return document;
  }
  if (detail == Detail::full) document.set_abstract(abstract_of(input, answer.run));
  add_results(document, input, answer.run, detail);
  state_files(document, answer);
  add_measures(document, answer, detail);
  if (detail == Detail::brief) {
    document.state(StatementKind::summary,
                   "More: --full (setting, D'), --report FILE.html (figures), --json.");
  }
  return document;
}

}  // namespace sfumato::lab
