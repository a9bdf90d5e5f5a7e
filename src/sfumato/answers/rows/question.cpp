#include "sfumato/answers/rows/question.hpp"

#include <fmt/format.h>

#include "sfumato/answers/rows/keys.hpp"
#include "sfumato/core/error.hpp"
#include "sfumato/core/number_check.hpp"
#include "sfumato/data/keys/makers.hpp"

namespace sfumato {
namespace {

using namespace keys;
using Q = RowsQuestion;

[[noreturn]] void refuse_key(const char* key, const std::string& problem,
                             const std::string& remedy) {
  throw InvalidArgument(problem, remedy, Where::key(key));
}

/// "self", or the path of a file.
Key<Q> standardise_key() {
  Key<Q> key = file_key<Q>("standardise",
                           "CSV with a row of public centres and a row of scales, or \"self\"",
                           &Q::standardise);
  key.type = "path | \"self\"";
  key.read = [read = key.read](Q& to, const TomlTable& table, const std::string& given) {
    if (table.string(given) == "self") {
      to.standardise = "self";
    } else {
      read(to, table, given);
    }
  };
  return with(key, {"standardize"});
}

void require_training(const Q& q) {
  if (q.release && q.time) {
    refuse_key("time", "a released minimiser has no training time", "Remove `time` or `release`");
  }
  if (q.release && (q.learning_rate || q.steps)) {
    refuse_key(q.learning_rate ? "learning_rate" : "steps", "a released minimiser takes no steps",
               "Remove `learning_rate` and `steps`, or `release`");
  }
  if (q.learning_rate && q.time) {
    refuse_key("time", "noisy gradient descent runs for `steps`, the flow for a `time`",
               "Remove `time`, or `learning_rate` and `steps`");
  }
  if (q.learning_rate && !q.steps) {
    refuse_key("learning_rate", "noisy gradient descent needs the number of steps",
               "Give `steps`, or remove `learning_rate`");
  }
  if (q.steps && !q.learning_rate) {
    refuse_key("steps", "the steps need a `learning_rate`", "Give it, or remove `steps`");
  }
}

}  // namespace

std::string_view name(RowsModel model) { return model == RowsModel::ridge ? "ridge" : "logistic"; }

const Keys<RowsQuestion>& rows_keys() {
  static const Keys<Q> keys = {
      required(file_key<Q>("table", "the table: CSV with a header row", &Q::table)),
      required(text_key<Q>("target", "text", "the column to predict", &Q::target)),
      required(choice_key<Q, Adjacency>("adjacency", "how D' differs from D", &Q::adjacency,
                                        by_name({Adjacency::remove, Adjacency::replace}))),
      required(choice_key<Q, LossScale>("loss", "how the losses of the rows are combined", &Q::loss,
                                        {{"sum", LossScale::sum}, {"mean", LossScale::mean}})),
      required(number_or_file_key<Q>(
          "noise",
          "noise covariance: a number (isotropic variance) or a covariance file (NPZ, NPY, CSV)",
          &Q::noise, not_a_variance)),
      choice_key<Q, RowsModel>("model", "exact risks, or proven bounds for a target of 0 and 1",
                               &Q::model, by_name({RowsModel::ridge, RowsModel::logistic})),
      texts_key<Q>("features", "list of columns", "columns to use (default: all others)",
                   &Q::features),
      text_key<Q>("id", "text", "a column that names the rows; may hold text, is no feature",
                  &Q::id),
      with(file_key<Q>("replacement", "with replace: CSV with the one record that D' has instead",
                       &Q::replacement),
           {"with"}),
      number_key<Q>("ridge", "number >= 0", "ridge strength", &Q::ridge, not_a_strength),
      choice_key<Q, RidgeScale>("ridge_scale", "the ridge as it is, or times the number of rows",
                                &Q::ridge_scale,
                                {{"fixed", RidgeScale::fixed}, {"rows", RidgeScale::times_rows}}),
      flag_key<Q>("release",
                  "release the minimiser plus N(0, noise) instead of training with noise",
                  &Q::release),
      number_key<Q>("time", "number >= 0 or inf",
                    "flow time, from a start at 0 (default inf: stationary)", &Q::time, not_a_time),
      number_key<Q>("learning_rate", "number > 0",
                    "noisy gradient descent instead of the flow: its step", &Q::learning_rate,
                    not_a_learning_rate),
      number_key<Q>("steps", "integer >= 0 or inf", "with learning_rate: how many, from 0",
                    &Q::steps, not_a_step_count),
      flag_key<Q>("intercept", "add a column of ones", &Q::intercept),
      standardise_key(),
      with(numbers_key<Q>("epsilons", "list of numbers >= 0", "give delta at these", &Q::epsilons,
                          not_an_epsilon),
           {"epsilon"}),
      with(number_key<Q>("delta", "number in [0, 1)", "give epsilon at this", &Q::delta,
                         not_a_delta),
           {"target_delta"}),
      integer_key<Q>("check",
                     "logistic: compare so many of the riskiest rows with simulated paths "
                     "(default 3)",
                     &Q::check, 0, 1000),
      integer_key<Q>("seed", "seed of the simulated paths", &Q::seed, 0),
      integer_key<Q>("top", "rows to list (default 5, with --full 10)", &Q::top, 0, 1000000000),
      text_key<Q>("separator", "text", "mark between fields", &Q::separator),
      choice_key<Q, std::string>("decimal", "decimal mark", &Q::decimal, {{".", "."}, {",", ","}}),
      flag_key<Q>("drop_missing", "leave out rows with missing values", &Q::drop_missing),
      integer_key<Q>("threads", "0: all cores; results do not depend on it", &Q::threads, 0, 1024)};
  return keys;
}

void require_sense(const RowsQuestion& question) {
  if (question.table.empty()) refuse_key("table", "no table is named", "Name a CSV file");
  if (question.target.empty())
    refuse_key("target", "no column is named", "Name the one to predict");
  if (const double* variance = std::get_if<double>(&question.noise)) {
    require_key("noise", *variance, not_a_variance);
  }
  if (question.time) require_key("time", *question.time, not_a_time);
  if (question.learning_rate) {
    require_key("learning_rate", *question.learning_rate, not_a_learning_rate);
  }
  if (question.steps) require_key("steps", *question.steps, not_a_step_count);
  require_key("epsilons", question.epsilons, not_an_epsilon);
  require_key("delta", question.delta, not_a_delta);
  require_key("ridge", question.ridge, not_a_strength);
  require_training(question);
  if (question.loss == LossScale::mean && question.ridge_scale == RidgeScale::times_rows) {
    refuse_key("ridge_scale", "with the mean loss the ridge is per row as it is",
               "Leave `ridge_scale` out");
  }
  const bool replace = question.adjacency == Adjacency::replace;
  if (replace && question.replacement.empty()) {
    refuse_key("adjacency", "replace needs the record that D' has instead",
               "Name its file: `replacement`");
  }
  if (!replace && !question.replacement.empty()) {
    refuse_key("replacement", "goes with the adjacency replace",
               "Remove it, or set `adjacency` to replace");
  }
  if (question.check.value_or(0) > 0 && checks_of(question) == 0) {
    refuse_key("check",
               question.release ? "a released minimiser has no paths to simulate"
                                : "the risks of the model ridge are exact as they are",
               "Remove it");
  }
}

std::size_t checks_of(const RowsQuestion& question) {
  if (question.model == RowsModel::ridge || question.release) return 0;
  return static_cast<std::size_t>(question.check.value_or(3));
}

}  // namespace sfumato
