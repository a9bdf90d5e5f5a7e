#include "sfumato/rows/rows_question.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "sfumato/core/check.hpp"
#include "sfumato/core/error.hpp"
#include "sfumato/data/keys/makers.hpp"
#include "sfumato/data/text.hpp"
#include "sfumato/rows/rows_keys.hpp"

namespace sfumato {
namespace {

using namespace keys;
using Q = RowsQuestion;

[[noreturn]] void refuse_key(const char* key, const std::string& problem,
                             const std::string& remedy) {
  throw InvalidArgument(problem, remedy, Where::key(key));
}

/// The numbers of a text such as 1,10,100; none if it is something else.
std::optional<std::vector<double>> numbers_in(std::string_view text) {
  std::vector<double> numbers;
  while (true) {
    const std::size_t comma = text.find(',');
    const ParsedNumber number = parse_number(trimmed(text.substr(0, comma)));
    if (number.status != NumberStatus::ok) return std::nullopt;
    numbers.push_back(number.value);
    if (comma == std::string_view::npos) return numbers;
    text.remove_prefix(comma + 1);
  }
}

/// "self", or the path of a file.
Key<Q> standardise_key() {
  Key<Q> key =
      file_key<Q>("standardise",
                  "scale the columns by a CSV of public centres and scales, or by the table itself",
                  &Q::standardise);
  key.type = "path | \"self\"";
  key.value = "FILE|self";
  key.read = [read = key.read](Q& to, const TomlTable& table, const std::string& given) {
    if (table.string(given) == "self") {
      to.standardise = "self";
    } else {
      read(to, table, given);
    }
  };
  return with(key, {"standardize"});
}

/// A table, or "-", which is no path.
Key<Q> table_key() {
  Key<Q> key = file_key<Q>(
      "table", "the table: CSV with a header row, also gzipped; -: standard input", &Q::table);
  key.read = [read = key.read](Q& to, const TomlTable& table, const std::string& given) {
    if (table.string(given) == "-") {
      to.table = "-";
    } else {
      read(to, table, given);
    }
  };
  return key;
}

/// The short way to say impute = "drop".
Key<Q> drop_missing_key() {
  struct One {
    bool drop = false;
  };
  const Key<One> one = flag_key<One>("drop_missing", "the same as --impute drop", &One::drop);
  Key<Q> key;
  key.name = one.name;
  key.type = one.type;
  key.help = one.help;
  key.shape = one.shape;
  key.read = [read = one.read](Q& to, const TomlTable& table, const std::string& given) {
    One flag;
    read(flag, table, given);
    if (flag.drop) to.impute = Impute::drop;
  };
  key.write = [](const Q&) { return std::string(); };
  return key;
}

/// One variance, several (1,10,100 or a list), or the path of a covariance file.
Key<Q> noise_key() {
  Key<Q> key = number_or_file_key<Q>(
      "noise",
      "variance of the noise in each weight; several (1,10,100) are compared; or a covariance file "
      "(NPZ, NPY, CSV)",
      &Q::noise, not_a_variance);
  key.type = "number | list of numbers | path";
  key.read = [read = key.read](Q& to, const TomlTable& table, const std::string& given) {
    to.noises.clear();
    if (table.is_string(given)) {
      const std::optional<std::vector<double>> list = numbers_in(table.string(given));
      if (!list) return read(to, table, given);
      for (const double noise : *list) {
        if (const char* problem = not_a_variance(noise)) {
          refuse(table, given, fmt::format("{}", noise), std::string("a variance: it ") + problem);
        }
      }
      to.noises = *list;
    } else {
      to.noises = checked_numbers(table, given, not_a_variance);
    }
    std::sort(to.noises.begin(), to.noises.end());
    to.noises.erase(std::unique(to.noises.begin(), to.noises.end()), to.noises.end());
    if (to.noises.size() == 1) to.noise = std::exchange(to.noises, {}).front();
  };
  return key;
}

Key<Q> steps_key() {
  return shown_as(
      number_key<Q>("steps", "integer >= 0 or inf", "with learning_rate: number of steps, from 0",
                    &Q::steps, not_a_step_count),
      "N");
}

/// eps=1 or advantage=0.1.
Key<Q> goal_key() {
  Key<Q> key;
  key.name = "goal";  // `for` is a word of Python
  key.aliases = {"for"};
  key.type = key.value = "eps=X | advantage=X";
  key.tells_choices = true;
  key.help = "find the least noise that keeps every row at this risk";
  key.read = [](Q& to, const TomlTable& table, const std::string& given) {
    const std::string text = table.string(given);
    const std::size_t at = text.find('=');
    const std::string measure(trimmed(text.substr(0, at)));
    const ParsedNumber number = at == std::string::npos
                                    ? ParsedNumber{}
                                    : parse_number(trimmed(std::string_view(text).substr(at + 1)));
    const bool epsilon = measure == "eps" || measure == "epsilon";
    const bool known = epsilon || measure == "advantage";
    if (!known || number.status != NumberStatus::ok) {
      throw InvalidArgument(fmt::format("`{}` = {} is not a goal", given, toml_text(text)),
                            "Write eps=1 or advantage=0.1", table.where(given));
    }
    to.goal =
        RowsGoal{epsilon ? RowsGoal::Measure::epsilon : RowsGoal::Measure::advantage, number.value};
  };
  key.write = [](const Q& from) {
    if (!from.goal) return std::string();
    return toml_text(
        fmt::format("{}={}", from.goal->measure == RowsGoal::Measure::epsilon ? "eps" : "advantage",
                    from.goal->most));
  };
  return key;
}

const char* not_an_advantage(double value) {
  return value >= 0.0 && value <= 1.0 ? nullptr : "is not in [0, 1]";
}

void require_goal(const Q& q) {
  const double* variance = std::get_if<double>(&q.noise);
  if (q.goal) {
    const bool advantage = q.goal->measure == RowsGoal::Measure::advantage;
    if (!(q.goal->most > 0.0) || (advantage && q.goal->most >= 1.0) || std::isinf(q.goal->most)) {
      refuse_key("goal", fmt::format("{} is out of range", words_of(*q.goal)),
                 "Give an epsilon > 0, or an advantage between 0 and 1");
    }
    if (!q.noises.empty()) {
      refuse_key("noise", "several noises and a goal are two questions",
                 "Remove `goal`, or leave one `noise`, of which the least multiple is then found");
    }
    if (variance != nullptr && *variance == 0.0) return;
  }
  for (const double noise : q.noises) require_key("noise", noise, not_a_variance);
  if (q.noises.empty() && variance != nullptr) require_key("noise", *variance, not_a_variance);
  if (q.max_advantage) {
    require_key("max_advantage", *q.max_advantage, not_an_advantage);
    if (!q.noises.empty()) {
      refuse_key("max_advantage", "speaks of one noise", "Give one `noise`, or remove it");
    }
  }
}

void require_training(const Q& q) {
  if (q.training && q.release) {
    refuse_key("training", "a released minimiser is not trained with noise",
               "Remove `training` or `release`");
  }
  if (q.release && q.time) {
    refuse_key("time", "a release has no training time", "Remove `time` or `release`");
  }
  if (q.release && (q.learning_rate || q.steps)) {
    refuse_key(q.learning_rate ? "learning_rate" : "steps", "a release takes no steps",
               "Remove `learning_rate` and `steps`, or `release`");
  }
  if (q.learning_rate && q.time) {
    refuse_key("time", "gradient descent takes `steps`, not a `time`",
               "Remove `time`, or `learning_rate` and `steps`");
  }
  if (q.training == RowsTraining::descent && q.time) {
    refuse_key("time", "noisy gradient descent runs for `steps`", "Remove it");
  }
  if (q.training == RowsTraining::descent && !q.learning_rate) {
    refuse_key("training", "noisy gradient descent needs a `learning_rate` and `steps`",
               "Give both");
  }
  if (q.training == RowsTraining::flow && (q.learning_rate || q.steps)) {
    refuse_key(q.learning_rate ? "learning_rate" : "steps", "a flow takes no steps",
               "Set `training` to descent, or remove it");
  }
  if (q.learning_rate && !q.steps) {
    refuse_key("learning_rate", "noisy gradient descent needs the number of steps",
               "Give `steps`, or remove `learning_rate`");
  }
  if (q.steps && !q.learning_rate) {
    refuse_key("steps", "they need a `learning_rate`", "Give it, or remove `steps`");
  }
}

}  // namespace

std::string_view name(RowsTraining training) {
  return training == RowsTraining::flow ? "flow" : "descent";
}

std::string words_of(const RowsGoal& goal) {
  return fmt::format("{} = {}", goal.measure == RowsGoal::Measure::epsilon ? "eps" : "advantage",
                     goal.most);
}

std::optional<RowsTraining> training_of(const RowsQuestion& question) {
  if (question.training) return question.training;
  if (question.time) return RowsTraining::flow;
  if (question.learning_rate) return RowsTraining::descent;
  return std::nullopt;
}

std::string_view name(RowsModel model) { return model == RowsModel::ridge ? "ridge" : "logistic"; }

const Keys<RowsQuestion>& rows_keys() {
  static const Keys<Q> keys = {
      required(table_key()),
      required(text_key<Q>("target", "text", "the column to predict", &Q::target)),
      required(choice_key<Q, Adjacency>("adjacency", "how D' differs from D", &Q::adjacency,
                                        by_name({Adjacency::remove, Adjacency::replace}))),
      required(choice_key<Q, LossScale>("loss", "reduction of the loss over rows", &Q::loss,
                                        {{"sum", LossScale::sum}, {"mean", LossScale::mean}})),
      required(noise_key()),
      goal_key(),
      choice_key<Q, RowsModel>(
          "model", "ridge: exact risks; logistic: proven bounds, for a target of two values",
          &Q::model, by_name({RowsModel::ridge, RowsModel::logistic})),
      texts_key<Q>("features", "list of columns",
                   "columns to use (default: all but the target and the id)", &Q::features),
      texts_key<Q>("exclude", "list of columns", "columns to leave out", &Q::exclude),
      text_key<Q>("id", "text",
                  "column that identifies the rows, as text; it is not used as a feature", &Q::id),
      text_key<Q>("positive", "text",
                  "logistic: the value of the target that counts as 1, all others as 0",
                  &Q::positive),
      texts_key<Q>("categorical", "list of columns",
                   "columns whose numbers are categories (columns of text always are)",
                   &Q::categorical),
      with(texts_key<Q>("reference", "list of COLUMN=LEVEL",
                        "the level without an indicator (default: the first in sorted order)",
                        &Q::references),
           {"references"}),
      with(file_key<Q>("replacement",
                       "with replace: CSV with the record that replaces the row in D'",
                       &Q::replacement),
           {"with"}),
      number_key<Q>("ridge", "number >= 0", "ridge penalty", &Q::ridge, not_a_strength),
      choice_key<Q, RidgeScale>(
          "ridge_scale", "use the penalty as given, or times the number of rows", &Q::ridge_scale,
          {{"fixed", RidgeScale::fixed}, {"rows", RidgeScale::times_rows}}),
      choice_key<Q, RowsTraining>(
          "training",
          "train by noisy gradient flow or descent, the noise being a covariance per unit of time, "
          "instead of adding noise to the fitted weights",
          &Q::training, by_name({RowsTraining::flow, RowsTraining::descent})),
      flag_key<Q>("release", "release the fitted weights plus N(0, noise): the default",
                  &Q::release),
      number_key<Q>(
          "time", "number >= 0 or inf",
          "training time of the gradient flow, from 0 (default: inf, the stationary distribution)",
          &Q::time, not_a_time),
      number_key<Q>("learning_rate", "number > 0", "step of noisy gradient descent",
                    &Q::learning_rate, not_a_learning_rate),
      steps_key(),
      number_key<Q>("max_advantage", "number in [0, 1]",
                    "exit with 1 and list the rows if some row's advantage is larger",
                    &Q::max_advantage, not_an_advantage),
      flag_key<Q>("intercept", "add a column of ones", &Q::intercept),
      standardise_key(),
      with(numbers_key<Q>("epsilons", "list of numbers >= 0", "report delta at these epsilons",
                          &Q::epsilons, not_an_epsilon),
           {"epsilon"}),
      with(number_key<Q>("delta", "number in [0, 1)", "report epsilon at this delta", &Q::delta,
                         not_a_delta),
           {"target_delta"}),
      integer_key<Q>(
          "check", "logistic: simulate this many of the riskiest rows for comparison (default: 3)",
          &Q::check, 0, 1000),
      integer_key<Q>("seed", "seed of the simulated paths", &Q::seed, 0),
      integer_key<Q>("top", "number of rows to list (default: 5, or 10 in full)", &Q::top, 0,
                     1000000000),
      text_key<Q>("separator", "text", "field separator", &Q::separator),
      choice_key<Q, std::string>("decimal", "decimal mark", &Q::decimal, {{".", "."}, {",", ","}}),
      choice_key<Q, Impute>("impute",
                            "rows with missing values: leave them out, or fill in the column's "
                            "median (categories: mode) or mode",
                            &Q::impute,
                            by_name({Impute::refuse, Impute::drop, Impute::median, Impute::mode})),
      drop_missing_key(),
      integer_key<Q>("threads", "number of threads; 0: all cores (does not change results)",
                     &Q::threads, 0, 1024)};
  return keys;
}

void read_rows_question(RowsQuestion& into, const TomlTable& table) {
  Keys<Q> keys = rows_keys();
  for (Key<Q>& key : keys) {
    if (key.name == "noise" && (table.has("for") || table.has("goal"))) key.required = false;
  }
  read_keys(into, table, keys);
}

void require_sense(const RowsQuestion& question) {
  if (question.table.empty()) refuse_key("table", "no table is given", "Name a CSV file");
  if (question.target.empty())
    refuse_key("target", "no column is given", "Name the column to predict");
  require_goal(question);
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
    refuse_key("ridge_scale", "the ridge of a mean loss is per row already",
               "Leave `ridge_scale` out");
  }
  const bool replace = question.adjacency == Adjacency::replace;
  if (replace && question.replacement.empty()) {
    refuse_key("adjacency", "replace needs the record that D' has instead",
               "Name its file (`replacement`)");
  }
  if (!replace && !question.replacement.empty()) {
    refuse_key("replacement", "needs the adjacency replace",
               "Remove it, or set `adjacency` to replace");
  }
  if (!question.positive.empty() && question.model == RowsModel::ridge) {
    refuse_key("positive", "the model ridge predicts a number, not a label",
               "Set `model` to logistic, or remove it");
  }
  if (question.check.value_or(0) > 0 && checks_of(question) == 0) {
    refuse_key("check",
               question.model == RowsModel::ridge
                   ? "ridge regression needs no simulation: its risks are exact"
                   : "a release has no paths to simulate",
               "Remove it");
  }
}

std::size_t checks_of(const RowsQuestion& question) {
  if (question.model == RowsModel::ridge || !training_of(question)) return 0;
  return static_cast<std::size_t>(question.check.value_or(3));
}

}  // namespace sfumato
