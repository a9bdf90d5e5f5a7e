#include "lab/train/measure_tables.hpp"

#include <fmt/format.h>

namespace sfumato::lab {
namespace {

constexpr const char* kLanczos = "Lanczos, from below";

std::vector<Column> columns_of(std::initializer_list<Column> more) {
  std::vector<Column> columns = {{"policy", "noise"}, {"world", "world"}};
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

}  // namespace

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

}  // namespace sfumato::lab
