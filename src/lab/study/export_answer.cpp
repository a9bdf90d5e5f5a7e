#include "lab/study/export_answer.hpp"

#include <fmt/format.h>

#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <vector>

#include "lab/study/ledger_study.hpp"
#include "lab/study/study_keys.hpp"
#include "sfumato/account/planned_files.hpp"
#include "sfumato/core/error.hpp"
#include "sfumato/data/csv_writer.hpp"
#include "sfumato/data/keys/makers.hpp"
#include "sfumato/data/npz.hpp"

namespace sfumato::lab {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

/// The numbers of a model that every study has, beside its scores.
struct Column {
  const char* name;
  double (*value)(const WorldResult&);
};
constexpr Column kColumns[] = {
    {"diverged_at",
     [](const WorldResult& w) {
       return w.diverged_at ? static_cast<double>(*w.diverged_at) : kNaN;
     }},
    {"training_loss", [](const WorldResult& w) { return w.training_loss; }},
    {"largest_loss", [](const WorldResult& w) { return w.largest_loss; }},
    {"training_accuracy", [](const WorldResult& w) { return w.training_accuracy; }},
    {"test_accuracy", [](const WorldResult& w) { return w.test_accuracy; }},
    {"path_kl", [](const WorldResult& w) { return w.path_kl; }},
    {"infinite_steps", [](const WorldResult& w) { return static_cast<double>(w.infinite_steps); }}};

double score_of(const WorldResult& world, const std::string& name) {
  for (const NamedScore& score : world.scores) {
    if (score.name == name) return score.value;
  }
  return kNaN;
}

}  // namespace

std::uint64_t export_csv(const Ledger& ledger, const Study& study, const std::string& path,
                         bool timings, const WriteRules& rules) {
  const std::vector<std::string> scores = ledger.score_names();
  std::vector<std::string> columns = {"policy", "pair", "replica", "world", "status", "seed"};
  for (const Column& column : kColumns) columns.emplace_back(column.name);
  columns.insert(columns.end(), scores.begin(), scores.end());
  if (timings) columns.emplace_back("seconds");
  CsvWriter out(path, columns, rules);
  std::uint64_t rows = 0;
  const auto number = [&](double value) {
    if (std::isnan(value)) {
      out.text("");
    } else {
      out.number(value);
    }
  };
  ledger.for_each([&](const TrialResult& trial) {
    for (std::size_t w = 0; w < trial.worlds.size(); ++w) {
      const WorldResult& world = trial.worlds[w];
      out.text(study.noise.at(trial.key.policy).name)
          .integer(trial.key.pair)
          .integer(trial.key.replica)
          .text(w == 0 ? "D" : "D'")
          .text(name(trial.status))
          .text(fmt::format("{}", trial.seed));  // may need more than 63 bits
      for (const Column& column : kColumns) number(column.value(world));
      for (const std::string& score : scores) number(score_of(world, score));
      if (timings) out.number(trial.seconds);
      out.end_row();
      ++rows;
    }
  });
  out.commit();
  return rows;
}

std::uint64_t export_npz(const Ledger& ledger, const Study& study, const std::string& path,
                         bool timings, const WriteRules& rules) {
  const std::vector<std::string> scores = ledger.score_names();
  std::vector<std::string> names;  // of the vectors, in the order of the file
  std::map<std::string, std::vector<double>> vectors;
  std::vector<double> seeds;  // upper and lower half, in turn
  std::map<std::string, std::vector<std::pair<std::uint64_t, std::vector<float>>>> series;
  std::uint64_t rows = 0;
  const auto put = [&](const std::string& name, double value) {
    if (rows == 0) names.push_back(name);
    vectors[name].push_back(value);
  };
  ledger.for_each([&](const TrialResult& trial) {
    for (std::size_t w = 0; w < trial.worlds.size(); ++w) {
      const WorldResult& world = trial.worlds[w];
      put("policy", trial.key.policy);
      put("pair", trial.key.pair);
      put("replica", trial.key.replica);
      put("world", static_cast<double>(w));
      put("status", trial.status == TrialStatus::ok ? 0.0 : 1.0);
      for (const Column& column : kColumns) put(column.name, column.value(world));
      for (const std::string& score : scores) put(score, score_of(world, score));
      if (timings) put("seconds", trial.seconds);
      seeds.push_back(static_cast<double>(trial.seed >> 32));
      seeds.push_back(static_cast<double>(trial.seed & 0xFFFFFFFFU));
      for (const NamedSeries& s : world.series) series[s.name].emplace_back(rows, s.values);
      ++rows;
    }
  });
  if (rows == 0) {
    throw InvalidArgument("the ledger holds no model yet, and arrays cannot be empty",
                          "Run the study first, or export CSV", Where::in(path));
  }
  const auto count = static_cast<Eigen::Index>(rows);
  NpzWriter writer;
  for (const std::string& name : names) {
    writer.add(name, vector_array(Eigen::Map<const Eigen::VectorXd>(vectors[name].data(), count)));
  }
  using Rows = Eigen::Matrix<double, Eigen::Dynamic, 2, Eigen::RowMajor>;
  writer.add("seed", matrix_array(Eigen::Map<const Rows>(seeds.data(), count, 2)));
  for (const auto& [name, values] : series) {
    const std::size_t length = values.front().second.size();
    std::vector<float> matrix(rows * length, std::numeric_limits<float>::quiet_NaN());
    for (const auto& [row, numbers] : values) {
      if (numbers.size() != length) {
        throw InvalidArgument(fmt::format("the series `{}` has {} numbers and {} numbers", name,
                                          length, numbers.size()),
                              "Export CSV", Where::in(path));
      }
      std::copy(numbers.begin(), numbers.end(),
                matrix.begin() + static_cast<std::ptrdiff_t>(row * length));
    }
    if (length == 0) continue;
    const std::size_t shape[] = {rows, length};
    writer.add(name, matrix, shape);
  }
  std::string policies;
  for (const NoiseSpec& noise : study.noise) policies += noise.name + "\n";
  writer.add_text("policies", policies);
  writer.add_text("study", ledger.identity().study);
  writer.add_text("notice", seed_notice(study.train.seed));
  writer.write(path, Compression::deflated, rules);
  return rows;
}

const Keys<StudyExportQuestion>& study_export_keys() {
  using namespace keys;
  using Q = StudyExportQuestion;
  static const Keys<Q> all = {
      required(file_key<Q>("ledger", "ledger written by `study run`", &Q::ledger)),
      required(output_key<Q>("out", "file to write: .csv, or .npz with the loss of every record",
                             &Q::out)),
      flag_key<Q>("timings", "include the seconds that each trial took", &Q::timings)};
  return all;
}

StudyExportAnswer answer(const StudyExportQuestion& question, Observer&) {
  const bool npz = question.out.ends_with(".npz");
  if (!npz && !question.out.ends_with(".csv")) {
    throw InvalidArgument(fmt::format("\"{}\" ends in neither .csv nor .npz", question.out), "",
                          Where::key("out"));
  }
  prepare_outputs({question.ledger}, {{"out", question.out}}, question.force);
  const Ledger ledger = Ledger::read(question.ledger);
  const Study study = study_of(ledger);
  const std::uint64_t rows = (npz ? export_npz : export_csv)(ledger, study, question.out,
                                                             question.timings, {question.force});
  return {question, rows, study.train.seed};
}

Document document_of(const StudyExportAnswer& answer, Detail) {
  Document document = new_document("study export", "Trials of " + answer.question.ledger);
  document.add_result("rows", answer.rows);
  document.state(StatementKind::warning, seed_notice(answer.seed));
  document.state(StatementKind::summary,
                 say("{} rows written to {}.", answer.rows, answer.question.out));
  return document;
}

}  // namespace sfumato::lab
