#include "lab/train/train_document.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <functional>
#include <string>
#include <utility>
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
#include "sfumato/report/row_field.hpp"

namespace sfumato::lab {
namespace {

constexpr const char* kLanczos = "Lanczos, from below";

Cell estimate(double value, const char* method) {
  return Claimed<double>{value, Claim::estimate, method};
}

Cell exact(double value, const char* method) {
  return Claimed<double>{value, Claim::exact, method};
}

/// What was measured of a model; nothing where it diverged or cannot be measured.
template <class Measure>
struct MeasuredModel {
  std::string policy, data_set;
  const Measure* measure;
  std::string missing;
};

/// One row per model that was looked at, by what was measured of it.
template <class Measure>
Table measures_table(const char* key, std::string title, const RowFields<Measure>& fields,
                     const TrainAnswer& answer, const std::vector<std::optional<Measure>>& measures,
                     const char* missing = "") {
  using Row = MeasuredModel<Measure>;
  std::vector<Row> rows;
  for (std::size_t m = 0; m < measures.size(); ++m) {
    const ModelRecord& record = answer.run.group.models()[m];
    rows.push_back({answer.input.policies[record.policy].name, world_name(record.world),
                    measures[m] ? &*measures[m] : nullptr,
                    record.diverged_at ? "diverged" : missing});
  }
  RowFields<Row> all = {
      {.key = "policy", .title = "noise", .of = [](const Row& row) { return Cell(row.policy); }},
      {.key = "world", .title = "data set", .of = [](const Row& row) {
         return Cell(row.data_set);
       }}};
  for (const RowField<Measure>& field : fields) {
    all.push_back(with_getter<Row, Cell>(field, [of = field.of](const Row& row) {
      return row.measure == nullptr ? Cell(Empty{row.missing}) : of(*row.measure);
    }));
  }
  return table_of(key, std::move(title), all, rows, 2);
}

void add_hessian(Document& document, const TrainAnswer& answer) {
  using Row = HessianMeasure;
  document.add(measures_table<Row>(
      "hessian",
      fmt::format("Curvature of the {} of the training losses",
                  answer.input.study.train.loss == LossScale::mean ? "mean" : "sum"),
      {{.key = "trace",
        .title = "tr H",
        .of = [](const Row& h) { return estimate(h.trace.value.value, "Hutchinson, 30 probes"); }},
       {.key = "standard_error",
        .title = "standard error",
        .of = [](const Row& h) { return Cell(h.trace.value.standard_error); }},
       {.key = "largest",
        .title = "largest eigenvalue",
        .of = [](const Row& h) { return estimate(h.largest_eigenvalue.value.value, kLanczos); }},
       {.key = "residual",
        .title = "residual",
        .of = [](const Row& h) { return Cell(h.largest_eigenvalue.value.residual); }}},
      answer, answer.measures.hessian));
}

void add_flatness(Document& document, const TrainAnswer& answer) {
  using Row = FlatnessMeasure;
  const bool replaced = !answer.input.pair.other.changes.front().empty;
  const auto of_segment = [](auto number) {
    return [number](const Row& f) {
      return f.segment ? Cell(number(f.segment->value))
                       : Cell(Empty{"D' has no record to compare with"});
    };
  };
  document.add(measures_table<Row>(
      "flatness",
      replaced ? "Difference that the two records make to the gradient of the summed loss"
               : "Difference that the record makes to the gradient of the summed loss",
      {{.key = "gradient_difference",
        .title = "|grad f(D) - grad f(D')|",
        .of =
            [](const Row& f) {
              return exact(f.gradient_difference, "gradients in double precision");
            }},
       {.key = "mixed_norm",
        .title = "largest |J|",
        .of =
            [](const Row& f) {
              return estimate(f.mixed_norm, f.segment ? "Lanczos, 17 points between the records"
                                                      : "Lanczos, at the record");
            }},
       {.key = "bound", .title = "|d - d'| |J|", .of = of_segment([](const RecordSensitivity& s) {
                                                   return estimate(s.bound, "product");
                                                 })},
       {.key = "respected", .title = "respected", .of = of_segment([](const RecordSensitivity& s) {
                                                    return s.respected
                                                               ? std::string("yes")
                                                               : fmt::format("no ({} kinks)",
                                                                             s.switches);
                                                  })}},
      answer, answer.measures.flatness));
}

void add_covariance(Document& document, const TrainAnswer& answer) {
  using Row = CovarianceMeasure;
  document.add(measures_table<Row>(
      "covariance", "Minibatch noise: covariance of the gradient of a step",
      {{.key = "trace",
        .title = "trace",
        .of = [](const Row& c) { return exact(c.trace, "Spec §10"); }},
       {.key = "largest",
        .title = "largest eigenvalue",
        .of = [](const Row& c) { return estimate(c.largest_eigenvalue, kLanczos); }},
       {.key = "residual",
        .title = "residual",
        .of = [](const Row& c) { return Cell(c.residual); }}},
      answer, answer.measures.covariance, "not for Poisson batches"));
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

Text network_text(const TrainInput& input) {
  std::vector<std::string> layers;
  for (std::size_t i = 0; i < input.network.layers().size(); ++i) {
    layers.push_back(layer_text(input.network, i));
  }
  const std::string& preset = input.study.model.preset;
  return say("Network{}: {} parameters; {} {} {}, softmax cross-entropy.",
             preset.empty() ? "" : " " + preset, input.network.parameter_count(),
             input.network.input().text(), Maths{"->"}, fmt::format("{}", fmt::join(layers, ", ")));
}

/// What is trained, a sentence or two each: the records of D, what D' has instead, the network, the steps.
Text data_text(const TrainInput& input) {
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
  return say("D: {} = {} of the {} records of {}, drawn with seed {}, {}.", Maths{"N"},
             input.pair.slots.count(), train.count(), train.name, data.seed, inputs);
}

Text adjacency_text(const TrainInput& input) {
  const Maths without{"D'"};
  const SlotChange& change = input.pair.other.changes.front();
  const auto label = static_cast<int>(input.pair.slots.labels[change.slot]);
  const std::uint32_t record = input.pair.slots.records[change.slot];
  const auto own = static_cast<int>(input.sets.train.labels[record]);
  const Text canary = label == own ? Text() : say(", a canary: labelled {} in D", label);
  const Text instead =
      change.empty
          ? say("In {} its slot is empty: batches may draw it, but its gradient is zero, and sums "
                "are divided by the nominal batch size (zero-out adjacency).",
                without)
          : say("In {} it is replaced by record {}, class {}.", without, change.record + 1,
                static_cast<int>(change.label));
  return say(
      "The differing record is number {} of the set, class {}{}. {} {} is public and the same for "
      "D and {}.",
      record + 1, own, canary, instead, Maths{"N"}, without);
}

Text training_text(const TrainInput& input) {
  const Training& train = input.study.train;
  return say(
      "{} iterations on batches of {} ({}), {} of the losses, learning rate {}, seed {}. All "
      "models share initial weights, batches and Gaussian draws.",
      train.iterations, train.batch_size, name(train.batches),
      train.loss == LossScale::mean ? "mean" : "sum", train.learning_rate, train.seed);
}

Table policy_table(const TrainInput& input) {
  using Row = NoisePolicy;
  const auto of_scaled = [](auto value) {
    return [value](const Row& policy) {
      const ScaledNoise* scaled = scaled_noise(policy.rule);
      return scaled == nullptr ? Cell(Empty{}) : Cell(value(*scaled));
    };
  };
  return table_of<Row>(
      "noise", "Noise added to every step",
      {{.key = "policy",
        .title = "name",
        .of = [](const Row& policy) { return Cell(policy.name); }},
       {.key = "kind",
        .title = "policy",
        .of = [](const Row& policy) { return Cell(name(policy.rule)); }},
       {.key = "variance", .title = "sigma^2", .of = of_scaled([](const ScaledNoise& scaled) {
                                                 return scaled.variance;
                                               })},
       {.key = "reading", .title = "read as", .of = of_scaled([](const ScaledNoise& scaled) {
                                                return name(scaled.interpretation);
                                              })}},
      input.policies);
}

std::string status_of(const ModelRecord& record) {
  return record.diverged_at ? fmt::format("diverged at step {}", *record.diverged_at) : "ok";
}

Cell summary_cell(const ModelRecord& record, const std::optional<ModelSummary>& summary,
                  double ModelSummary::*member) {
  if (!summary || record.diverged_at) return Empty{"diverged"};
  return Claimed<double>{(*summary).*member, Claim::exact, "of these weights, in single precision"};
}

constexpr const char* kPathKlMethod =
    "sum over one run: one draw of a random variable whose mean is the KL of the paths";

Cell path_kl_cell(double nats) { return Claimed<double>{nats, Claim::estimate, kPathKlMethod}; }

/// The larger path KL of the two directions.
double largest_path_kl(const TrainRun& run, std::size_t policy) {
  double nats = 0.0;
  for (const ModelRecord& record : run.group.models()) {
    if (record.policy == policy) nats = std::max(nats, record.path_kl.nats);
  }
  return nats;
}

/// A trained model, by its place in the run.
struct TrainedModel {
  const TrainInput* input;
  const TrainRun* run;
  std::size_t place;

  [[nodiscard]] const ModelRecord& record() const { return run->group.models()[place]; }
  [[nodiscard]] const std::string& policy() const { return input->policies[record().policy].name; }
};

/// All of them, or those of D.
std::vector<TrainedModel> models_of(const TrainInput& input, const TrainRun& run, Detail detail) {
  std::vector<TrainedModel> models;
  for (std::size_t m = 0; m < run.group.models().size(); ++m) {
    if (detail == Detail::full || run.group.models()[m].world == 0) {
      models.push_back({&input, &run, m});
    }
  }
  return models;
}

RowField<TrainedModel> policy_field() {
  return {.key = "policy",
          .title = "noise",
          .of = [](const TrainedModel& model) { return Cell(model.policy()); },
          .brief = 1};
}

RowFields<TrainedModel> model_fields(const TrainInput& input, const TrainRun& run, Detail detail) {
  const bool full = detail == Detail::full;
  const bool tested = !run.test.empty();
  const bool path_kl = input.study.train.path_kl;
  const auto& models = run.group.models();
  const bool any_diverged = std::any_of(models.begin(), models.end(), [](const ModelRecord& of) {
    return of.diverged_at.has_value();
  });
  using Summaries = std::vector<std::optional<ModelSummary>> TrainRun::*;
  const auto summary = [](Summaries of, double ModelSummary::*member) {
    return [=](const TrainedModel& model) {
      return summary_cell(model.record(), (model.run->*of)[model.place], member);
    };
  };
  RowFields<TrainedModel> list = {
      policy_field(),
      {.key = "world",
       .title = "data set",
       .of = [](const TrainedModel& model) { return Cell(world_name(model.record().world)); }},
      {.key = "loss",
       .title = full ? "mean training loss" : "loss",
       .of = summary(&TrainRun::training, &ModelSummary::mean_loss),
       .brief = 2,
       .result = "training_loss"},
      {.key = "largest_loss",
       .title = "largest loss of a record",
       .of = summary(&TrainRun::training, &ModelSummary::largest_loss)},
      {.key = "train_accuracy",
       .title = full ? "training accuracy" : "accuracy",
       .of = summary(&TrainRun::training, &ModelSummary::accuracy),
       .brief = 3,
       .result = "training_accuracy"}};
  if (tested) {
    list.push_back({.key = "test_loss",
                    .title = "mean test loss",
                    .of = summary(&TrainRun::test, &ModelSummary::mean_loss),
                    .result = "test_loss"});
    list.push_back({.key = "test_accuracy",
                    .title = "test accuracy",
                    .of = summary(&TrainRun::test, &ModelSummary::accuracy),
                    .brief = 4,
                    .result = "test_accuracy"});
  }
  if (path_kl) {
    list.push_back({.key = "path_kl",
                    .title = "path KL",
                    .of =
                        [](const TrainedModel& model) {
                          return path_kl_cell(largest_path_kl(*model.run, model.record().policy));
                        },
                    .unit = "nats",
                    .full = false,
                    .brief = 5});
  }
  list.push_back({.key = "status",
                  .title = "status",
                  .of = [](const TrainedModel& model) { return Cell(status_of(model.record())); },
                  .brief = any_diverged ? 6 : 0});
  return list;
}

/// The sums along the runs; the one of a model is a result.
RowFields<TrainedModel> path_kl_fields() {
  const auto of_path = [](auto number) {
    return [number](const TrainedModel& model) {
      return Cell(std::invoke(number, model.record().path_kl));
    };
  };
  return {
      policy_field(),
      {.key = "along",
       .title = "along",
       .of = [](const TrainedModel& model) { return Cell(world_name(model.record().world)); }},
      {.key = "divergence",
       .title = "divergence",
       .of =
           [](const TrainedModel& model) {
             return Cell(model.record().world == 0 ? "KL(D||D')" : "KL(D'||D)");
           }},
      {.key = "path_kl",
       .title = "sum",
       .of = [](const TrainedModel& model) { return path_kl_cell(model.record().path_kl.nats); },
       .unit = "nats",
       .result = "path_kl"},
      {.key = "differing_steps", .title = "differing steps", .of = of_path(&PathKlSum::steps)},
      {.key = "infinite_steps",
       .title = "infinite steps",
       .of = of_path(&PathKlSum::infinite_steps)}};
}

/// In brief the models of D.
Table model_table(const TrainInput& input, const TrainRun& run, Detail detail) {
  const bool full = detail == Detail::full;
  return table_of(
      "models", full ? "Models at the end of training" : "Models of D at the end of training",
      shown(model_fields(input, run, detail), detail), models_of(input, run, detail), full ? 2 : 1);
}

Text infinite_text(const TrainInput& input, const ModelRecord& record) {
  const PathKlSum& path = record.path_kl;
  const PathKlSum::Infinite& first = *path.first_infinite;
  return say(
      "along {} with the noise {} the path KL is infinite: in {} of {} differing steps a parameter "
      "got noise on D or {} only, or moved without any. In step {} these were {}: {}{}.",
      world_name(record.world), input.policies[record.policy].name, path.infinite_steps, path.steps,
      Maths{"D'"}, first.step, first.count,
      fmt::format("{}", fmt::join(parameter_names(input.network, first.first_coordinates), ", ")),
      first.count > first.first_coordinates.size() ? ", and others" : "");
}

void add_path_kl(Document& document, const TrainInput& input, const TrainRun& run) {
  document.add(table_of("path_kl",
                        "Path KL: KL between the steps of D and D', summed along one run",
                        path_kl_fields(), models_of(input, run, Detail::full), 2));
  for (const ModelRecord& record : run.group.models()) {
    if (!record.path_kl.first_infinite) continue;
    document.state(StatementKind::warning, infinite_text(input, record));
  }
}

void add_speed(Document& document, const TrainRun& run) {
  const auto steps = static_cast<double>(run.group.step());
  const auto models = static_cast<double>(run.group.models().size());
  if (!(run.seconds > 0.0)) return;
  struct Measured {
    const char* what;
    double value;
    const char* unit;
  };
  document.add(table_of<Measured>(
      "speed", "Speed",
      {{.key = "quantity",
        .title = "quantity",
        .of = [](const Measured& one) { return Cell(one.what); }},
       {.key = "value",
        .title = "value",
        .of =
            [](const Measured& one) {
              return estimate(one.value, "wall time of this run, one thread");
            }},
       {.key = "unit", .title = "unit", .of = [](const Measured& one) { return Cell(one.unit); }}},
      std::vector<Measured>{
          {"time of all steps", run.seconds, "s"},
          {"per model and iteration", 1e6 * run.seconds / (steps * models), "microseconds"},
          {"iterations of the group", steps / run.seconds, "1/s"}}));
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

void add_model_results(Document& document, const TrainInput& input, const TrainRun& run) {
  const RowFields<TrainedModel> numbers = model_fields(input, run, Detail::full);
  for (const TrainedModel& model : models_of(input, run, Detail::full)) {
    const std::vector<Subject> of = {{"policy", model.policy()},
                                     {"world", world_name(model.record().world)}};
    sfumato::add_results(document, numbers, model, of, Missing::stated);
    if (!input.study.train.path_kl) continue;
    sfumato::add_results(document, path_kl_fields(), model, of, Missing::stated);
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
  for (const std::string& note : run.notes)
    document.state(StatementKind::warning, say("{}.", note));
  document.add(model_table(input, run, detail));
  if (detail == Detail::full) {
    if (input.study.train.path_kl) add_path_kl(document, input, run);
    add_curves(document, input, run);
    add_difference_figures(document, input, run);
    add_speed(document, run);
    for (const NoisePolicy& policy : input.policies) {
      document.state(StatementKind::warning,
                     say("{}: {}", GivenName{policy.name}, what_a_guarantee_needs(policy.rule)));
    }
  }
  document.state(StatementKind::warning, seed_notice(input.study.train.seed));
  document.state(StatementKind::assumption,
                 say("this is one run of one pair D, {}. No epsilon is printed because none is "
                     "guaranteed, and the accuracies describe these models only.",
                     Maths{"D'"}));
  add_model_results(document, input, run);
}

/// "test accuracy 0.7265, path KL 24.6 nats": what a policy came to, of the model of D.
Text policy_text(const TrainedModel& model) {
  constexpr int kDigits = 3;
  if (model.record().diverged_at) return "diverged";
  const bool tested = !model.run->test.empty();
  const std::optional<ModelSummary>& summary =
      tested ? model.run->test[model.place] : model.run->training[model.place];
  const Text text =
      summary ? say("{} accuracy {}", tested ? "test" : "training",
                    ClaimedNumber{{summary->accuracy, Claim::exact}, NumberStyle::general, kDigits})
              : Text("trained");
  if (!model.input->study.train.path_kl) return text;
  const double nats = largest_path_kl(*model.run, model.record().policy);
  return std::isfinite(nats)
             ? say("{}, path KL {} nats", text,
                   ClaimedNumber{{nats, Claim::estimate}, NumberStyle::general, kDigits})
             : say("{}, infinite path KL", text);
}

/// The top of the page. One run is no evidence, and says so.
Abstract abstract_of(const TrainInput& input, const TrainRun& run) {
  constexpr std::size_t kMostPolicies = 4;
  Abstract abstract;
  abstract.asked =
      "How accurate are models with this noise, and how much do their steps depend on one "
      "training record?";
  Text texts;
  const std::vector<TrainedModel> models = models_of(input, run, Detail::brief);
  for (const TrainedModel& model : models) {
    texts +=
        say("{}{}: {}", texts.empty() ? "" : "; ", GivenName{model.policy()}, policy_text(model));
  }
  abstract.answer =
      models.size() <= kMostPolicies
          ? say("{}.", texts)
          : say("{} kinds of noise were trained: see the table of models.", models.size());
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
    return std::isalnum(c) != 0 ||
           std::find(plain.begin(), plain.end(), static_cast<char>(c)) != plain.end();
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
                 say("stopped after {} of {} iterations.", answer.run.group.step(),
                     answer.input.study.train.iterations));
  document.state(StatementKind::summary,
                 say("The state is saved in {}. To continue: {}", checkpoint_path(answer.question),
                     resume_command(answer.question)));
}

void state_files(Document& document, const TrainAnswer& answer) {
  const std::string& out = answer.question.out;
  if (out.empty()) return;
  document.state(
      StatementKind::summary,
      say("Parameters (NPZ, in PyTorch's layout), log.json and document.json are in {}.", out));
  if (!answer.input.study.train.gradient_differences) return;
  document.state(
      StatementKind::summary,
      say("Noise for these gradient differences: sfumato design --second-moments "
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
    document.state(StatementKind::summary, say("More: {} (setting, {}), {} (figures), {}.",
                                               More::all, Maths{"D'"}, More::page, More::json));
  }
  return document;
}

}  // namespace sfumato::lab
