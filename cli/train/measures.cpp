#include "train/measures.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sfumato/answers/train/parameter_figures.hpp"
#include "sfumato/nn/exact_gradient.hpp"
#include "sfumato/study/measures.hpp"

namespace sfumato::cli {
namespace {

constexpr const char* kLanczos = "Lanczos, from below";

/// One row per model; `fill` gives the cells after noise and world.
template <class Fill>
void add_table(Document& document, Table table, const TrainInput& input, const TrainResult& result,
               Observer& observer, Fill&& fill) {
  const std::size_t columns = table.columns().size();
  for (std::size_t m = 0; m < result.group.models(); ++m) {
    observer.progress("measuring", m, result.group.models());
    if (observer.stop_requested()) break;
    const ModelRecord& record = result.group.records()[m];
    std::vector<Cell> row = {input.policies[record.policy].name, world_name(record.world)};
    if (record.diverged_at) {
      row.resize(columns, Cell(Empty{"diverged"}));
    } else {
      for (Cell& cell : fill(record, result.group.parameters(m))) row.push_back(std::move(cell));
    }
    table.add_row(std::move(row));
  }
  document.add(std::move(table));
}

std::vector<Column> columns_of(std::initializer_list<Column> more) {
  std::vector<Column> columns = {{"policy", "noise"}, {"world", "world"}};
  columns.insert(columns.end(), more);
  return columns;
}

Claimed<double> estimate(double value, const char* method) {
  return {value, Claim::estimate, method};
}

Claimed<double> exact(double value, const char* method) { return {value, Claim::exact, method}; }

/// The noise of a step at the final weights, of every model of D with noise.
void add_noise(Document& document, const TrainInput& input, const TrainResult& result,
               const WorldRecords& world, Observer& observer) {
  const Training& training = input.study.train;
  std::vector<ParameterField> fields;
  for (std::size_t m = 0; m < result.group.models() && !observer.stop_requested(); ++m) {
    const ModelRecord& record = result.group.records()[m];
    const NoisePolicy& policy = input.policies[record.policy];
    if (record.world != 0 || record.diverged_at || policy.kind == NoiseKind::none) continue;
    const std::vector<float>& weights = result.group.parameters(m);
    BatchGradient whole =
        batch_gradient(input.network, std::vector<double>(weights.begin(), weights.end()),
                       world.records(), LossScale::mean);
    if (training.loss == LossScale::sum) {
      for (double& slope : whole.gradient) slope *= static_cast<double>(training.batch_size);
    }
    fields.push_back({policy.name, step_variances(policy, training.learning_rate, input.network,
                                                  whole.gradient)});
  }
  if (fields.empty()) return;
  for (Figure& figure :
       parameter_figures(input.network, fields,
                         {"noise", "Where the noise goes", "mean variance of a parameter",
                          "variance of a step at the final weights of D, with the mean gradient "
                          "of all records for that of a batch"})) {
    if (figure.mark() == Mark::image) {
      figure.set_caption(
          "Noise that is scaled by gradients is made from private data: the "
          "picture may show records.");
    }
    document.add(std::move(figure));
  }
}

}  // namespace

void add_measures(Document& document, const TrainOptions& options, const TrainInput& input,
                  const TrainResult& result, Observer& observer) {
  const auto wanted = [&](const char* name) {
    return std::find(options.measures.begin(), options.measures.end(), name) !=
           options.measures.end();
  };
  if (options.measures.empty()) return;
  const Training& training = input.study.train;
  const WorldRecords worlds[] = {WorldRecords(*input.data, 0), WorldRecords(*input.data, 1)};
  if (wanted("hessian")) {
    Table table("hessian",
                fmt::format("Curvature of the {} of the training losses",
                            training.loss == LossScale::mean ? "mean" : "sum"),
                columns_of({{"trace", "tr H"},
                            {"standard_error", "standard error"},
                            {"largest", "largest eigenvalue"},
                            {"residual", "residual"}}),
                2);
    add_table(document, std::move(table), input, result, observer,
              [&](const ModelRecord& record, const std::vector<float>& parameters) {
                const HessianMeasure h = measure_hessian(
                    input.network, parameters, worlds[record.world], training.loss, training.seed);
                return std::vector<Cell>{estimate(h.trace.value.value, "Hutchinson, 30 probes"),
                                         h.trace.value.standard_error,
                                         estimate(h.largest_eigenvalue.value.value, kLanczos),
                                         h.largest_eigenvalue.value.residual};
              });
  }
  if (wanted("flatness")) {
    const bool replaced = !input.pair.other.changes.front().empty;
    Table table("flatness",
                replaced ? "How far the two records move the gradient of the sum of losses apart"
                         : "How far the record moves the gradient of the sum of losses",
                columns_of({{"gradient_difference", "|grad f(D) - grad f(D')|"},
                            {"mixed_norm", "largest |J|"},
                            {"bound", "|d - d'| |J|"},
                            {"respected", "respected"}}),
                2);
    add_table(document, std::move(table), input, result, observer,
              [&](const ModelRecord&, const std::vector<float>& parameters) {
                const FlatnessMeasure f =
                    measure_flatness(input.network, parameters, worlds[0], worlds[1]);
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
  if (wanted("covariance")) {
    Table table(
        "covariance", "Minibatch noise: covariance of a step's gradient",
        columns_of(
            {{"trace", "trace"}, {"largest", "largest eigenvalue"}, {"residual", "residual"}}),
        2);
    add_table(document, std::move(table), input, result, observer,
              [&](const ModelRecord& record, const std::vector<float>& parameters) {
                const auto c =
                    measure_covariance(input.network, parameters, worlds[record.world], training);
                if (!c) return std::vector<Cell>(3, Cell(Empty{"not for Poisson batches"}));
                return std::vector<Cell>{exact(c->trace, "Spec §10"),
                                         estimate(c->largest_eigenvalue, kLanczos), c->residual};
              });
  }
  if (wanted("noise")) add_noise(document, input, result, worlds[0], observer);
  if (observer.stop_requested()) {
    document.state(StatementKind::warning, "stopped on request: measures are incomplete.");
  }
  document.state(StatementKind::info,
                 "Curvature, mixed derivative and minibatch noise describe these models; no "
                 "guarantee follows from them (Spec §10).");
}

}  // namespace sfumato::cli
