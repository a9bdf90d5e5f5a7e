#include "sfumato/fit/fit_keys.hpp"

#include "sfumato/account/budget_booking.hpp"
#include "sfumato/core/check.hpp"
#include "sfumato/data/keys/makers.hpp"

namespace sfumato {
namespace {

using namespace keys;
using Q = FitQuestion;

Choices<FitMechanism> mechanism_choices() {
  Choices<FitMechanism> choices;
  for (const FitMechanism one : fit_mechanisms()) choices.emplace_back(name(one), one);
  return choices;
}

const char* not_a_holdout(double value) {
  return value >= 0.0 && value <= 0.9 ? nullptr : "is not a share in [0, 0.9]";
}

/// "self", or the path of a file.
Key<Q> bounds_key() {
  Key<Q> key = file_key<Q>(
      "bounds",
      "CSV that declares ranges and levels of the columns from outside knowledge (--template "
      "FILE writes one to fill in), or \"self\" (no guarantee)",
      &Q::bounds);
  key.type = "path | \"self\"";
  key.value = "FILE|self";
  key.read = [read = key.read](Q& to, const TomlTable& table, const std::string& given) {
    if (table.string(given) == "self") {
      to.bounds = "self";
    } else {
      read(to, table, given);
    }
  };
  return required(key);
}

/// A key of the settings as one of the question.
Key<Q> of_settings(const Key<FitSettings>& key) { return of_part(key, &Q::settings); }

/// Its rules stand in the help: there are too many for what a value looks like.
Key<Q> missing_key() {
  Key<Q> key = text_key<Q>(
      "missing", "drop | middle | indicator | value:X",
      "records that lack a value: drop (default) leaves them out; middle of the range, a further "
      "0/1 feature, or X for numbers (overridden by a column `missing` of the bounds)",
      &Q::missing);
  key.tells_choices = true;
  return key;
}

}  // namespace

const Keys<FitQuestion>& fit_keys() {
  using S = FitSettings;
  static const Keys<Q> own = {
      required(file_key<Q>("table", "the private table: CSV with a header row", &Q::table)),
      text_key<Q>("target", "text",
                  "the column to predict (default: the one that the bounds declare)", &Q::target),
      required(choice_key<Q, FitModel>(
          "model", "what the target is: a quantity, two classes, or several classes", &Q::model,
          by_name({FitModel::ridge, FitModel::logistic, FitModel::softmax}))),
      bounds_key(),
      required(number_key<Q>("target_epsilon", "number > 0",
                             "epsilon of this fit, what was spent before (--after) included",
                             &Q::target_epsilon, not_positive)),
      required(number_key<Q>("target_delta", "number in (0, 1)", "delta, far below 1 / records",
                             &Q::target_delta, not_a_small_probability)),
      flag_key<Q>("allow_large_delta", "take a target_delta above 1 / records too",
                  &Q::allow_large_delta),
      flag_key<Q>("accept_useless",
                  "fit also where privacy is expected to cost most of what the features explain",
                  &Q::accept_useless),
      integer_key<Q, std::uint64_t>(
          "records", "public bound on the number of rows (overrides the bounds file)", &Q::records,
          1, std::int64_t{1} << 40),
      choice_key<Q, NeighbouringRelation>(
          "adjacency", "which tables are neighbours (overrides the bounds file)", &Q::adjacency,
          by_name({NeighbouringRelation::add_remove, NeighbouringRelation::zero_out,
                   NeighbouringRelation::replace_one})),
      number_key<Q>("row_norm", "number > 0",
                    "public bound on the norm of a row, with features scaled to [-1, 1]; longer "
                    "rows are scaled down",
                    &Q::row_norm, not_positive),
      flag_key<Q>("intercept", "add a constant feature", &Q::intercept),
      missing_key(),
      choice_key<Q, FitMechanism>("mechanism", "how the fit is made (default: by predicted loss)",
                                  &Q::mechanism, mechanism_choices()),
      texts_key<Q>("select", "list of mechanisms",
                   "fit by each of these and publish the one that the held-out rows choose; they "
                   "share the budget",
                   &Q::select),
      flag_key<Q>("compare", "show the predicted loss of every mechanism", &Q::compare),
      file_key<Q>("after",
                  "what was released before about the same records: a model of `fit`, or a file of "
                  "`account --save`",
                  &Q::after),
      of_settings(number_key<S>("holdout", "share in [0, 0.9]",
                                "rows kept from the fit to estimate its accuracy privately",
                                &S::holdout, not_a_holdout)),
      of_settings(
          number_key<S>("range_share", "share in [0, 0.9]",
                        "share of the budget for narrowing the declared ranges (default 0.1 "
                        "to 0.3 if there are enough rows, else 0)",
                        &S::range_share, not_a_holdout)),
      of_settings(number_key<S>("interval_share", "share in [0, 0.9]",
                                "share of the budget for confidence intervals of a logistic "
                                "regression; 0.1 is usual",
                                &S::interval_share, not_a_holdout)),
      of_settings(number_key<S>("metric_share", "share in (0, 1)",
                                "share of the budget for the metric (default 0.3)",
                                &S::metric_share, not_a_share)),
      of_settings(number_key<S>("metric_ridge", "number > 0",
                                "ridge of the metric, relative to the edge of its noise spectrum "
                                "(default 0.45)",
                                &S::metric_ridge, not_positive)),
      of_settings(integer_key<S, std::uint64_t>("metric_rounds",
                                                "rounds in which the metric is released, each "
                                                "bounding rows in the previous one (default 3)",
                                                &S::metric_rounds, 1, 20)),
      of_settings(integer_key<S, std::uint64_t>("steps",
                                                "number of gradient steps (default by predicted "
                                                "loss: 24 to 192 of whitened squares, 40 or "
                                                "120 of whitened classes, 25 to 400 of isotropic)",
                                                &S::steps, 1, 1'000'000)),
      of_settings(integer_key<S, std::uint64_t>(
          "average_last", "number of last iterates to average", &S::average_last, 1, 1'000'000)),
      of_settings(number_key<S>("learning_rate", "number > 0", "learning rate of the descent",
                                &S::learning_rate, not_positive)),
      of_settings(number_key<S>(
          "clip_factor", "number > 0",
          "clipping norm of gradients, in units of the target's bound (default by predicted loss, "
          "0.05 to 3.6; 0.5 or 1 for classes)",
          &S::clip_factor, not_positive)),
      of_settings(number_key<S>("ridge", "number > 0",
                                "ridge penalty of last_iterate and minimiser", &S::ridge,
                                not_positive)),
      of_settings(choice_key<S, NoiseMode>(
          "noise_mode", "exact noise on a grid, or idealised double precision", &S::noise_mode,
          by_name({NoiseMode::grid, NoiseMode::gaussian}))),
      integer_key<Q, std::uint64_t>("seed", "repeatable noise, for experiments: no guarantee",
                                    &Q::seed, 0),
      flag_key<Q>(
          "row_risks",
          "also compute what the rows of this table add to the release, beside guarantee and "
          "audit; not for publication",
          &Q::row_risks),
      integer_key<Q, std::uint64_t>(
          "audit_runs", "audit the implementation with this many pairs of fits and a canary",
          &Q::audit_runs, 0, 10'000'000),
  };
  static const Keys<Q> all = [] {
    Keys<Q> list = own;
    for (Key<Q>& key : budget_keys<Q>()) list.push_back(std::move(key));
    return list;
  }();
  return all;
}

}  // namespace sfumato
