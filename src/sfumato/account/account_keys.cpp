#include "sfumato/account/account_keys.hpp"

#include <fmt/format.h>

#include "sfumato/account/budget_booking.hpp"
#include "sfumato/core/check.hpp"
#include "sfumato/core/error.hpp"
#include "sfumato/data/keys/makers.hpp"

namespace sfumato {
namespace {

const char* not_a_rate(double value) {
  return value >= 0.0 && value <= 1.0 ? nullptr : "is not a probability in [0, 1]";
}

/// A list in which a number may occur twice: one for each layer.
Key<ReleaseFields> list_key(const char* name, const char* type, const char* help,
                            std::vector<double> ReleaseFields::*member, NumberCheck check) {
  Key<ReleaseFields> key = keys::numbers_key<ReleaseFields>(name, type, help, member, check);
  key.read = [member, check](ReleaseFields& to, const TomlTable& table, const std::string& given) {
    const std::vector<double> values = table.numbers(given);
    for (const double value : values) {
      if (const char* problem = check(value)) {
        throw InvalidArgument(fmt::format("`{}` = {} {}", given, value, problem), "",
                              table.where(given));
      }
    }
    to.*member = values;
  };
  return key;
}

keys::Choices<MechanismKind> by_kind() {
  keys::Choices<MechanismKind> choices;
  for (const MechanismKind kind : mechanism_kinds()) choices.emplace_back(name(kind), kind);
  return choices;
}

const char* not_a_shape(double value) { return value > -1.0 ? nullptr : "is not above -1"; }

/// With the older names of the first and the last.
keys::Choices<Normaliser> normalisers() {
  keys::Choices<Normaliser> choices =
      keys::by_name({Normaliser::declared, Normaliser::int_qn, Normaliser::n, Normaliser::batch});
  choices.emplace_back("expected", Normaliser::declared);
  choices.emplace_back("actual", Normaliser::batch);
  return choices;
}

}  // namespace

const Keys<ReleaseFields>& release_keys() {
  using F = ReleaseFields;
  using namespace keys;
  static const Keys<F> all = {
      choice_key<F>("mechanism", "what a step adds, or what is known of it", &F::mechanism,
                    by_kind()),
      with(numbers_key<F>("noise_multiplier", "number >= 0, or several",
                          "deviation of the noise over the clip; several are compared",
                          &F::noise_multiplier, not_a_strength),
           {"sigma"}),
      with(number_key<F>("sample_rate", "number in [0, 1]",
                         "probability that a step samples a record", &F::sample_rate, not_a_rate),
           {"sampling_probability"}),
      with(integer_key<F, std::uint64_t>("steps", "number of noisy steps", &F::steps, 0),
           {"num_steps"}),
      choice_key<F>("sampler", "how a step chooses its records", &F::sampler,
                    by_name({Sampler::poisson, Sampler::allocate, Sampler::shuffle,
                             Sampler::fixed_size, Sampler::full})),
      number_key<F>("epochs", "number > 0", "instead of steps: passes over the records", &F::epochs,
                    not_positive),
      with(integer_key<F, std::uint64_t>("batch_size", "with records: instead of sample_rate",
                                         &F::batch_size, 1),
           {"expected_batch_size"}),
      with(integer_key<F, std::uint64_t>("records", "number of records of the table", &F::records,
                                         1),
           {"num_samples"}),
      integer_key<F, std::uint64_t>(
          "batch_cap",
          "of larger Poisson batches a random subset of this size is kept (with records)",
          &F::batch_cap, 1),
      integer_key<F, std::uint64_t>("batches_per_epoch",
                                    "allocate: batches that a record draws its own from",
                                    &F::batches_per_epoch, 1),
      integer_key<F, std::uint64_t>(
          "batches_per_record", "allocate: different batches of an epoch that a record is in (1)",
          &F::batches_per_record, 1),
      with(choice_key<F>("normaliser", "what the noisy sum is divided by", &F::normaliser,
                         normalisers()),
           {"normalise"}),
      integer_key<F, std::uint64_t>(
          "dimension", "normaliser: numbers that a step releases, the parameters of the model",
          &F::dimension, 1),
      with(number_key<F>("clip", "number > 0",
                         "norm to which each record is clipped; with noise_std", &F::clip,
                         not_positive),
           {"l2_norm_clip", "max_grad_norm"}),
      number_key<F>(
          "noise_std", "number >= 0",
          "instead of noise_multiplier: deviation of the noise on the sum, in the unit of clip",
          &F::noise_std, not_a_strength),
      list_key("clips", "numbers >= 0",
               "norm to which each layer is clipped by itself; with noise_stds", &F::clips,
               not_a_strength),
      list_key("noise_stds", "numbers > 0", "deviation of the noise of each layer", &F::noise_stds,
               not_positive),
      number_key<F>("step_epsilon", "number >= 0", "known: epsilon of one step", &F::step_epsilon,
                    not_an_epsilon),
      number_key<F>("step_delta", "number in [0, 1)", "known: delta of one step", &F::step_delta,
                    not_a_delta),
      number_key<F>("sensitivity", "number >= 0",
                    "last_iterate: what a step moves at most, in deviations of its noise",
                    &F::sensitivity, not_a_strength),
      number_key<F>("lipschitz", "number in [0, 1]",
                    "last_iterate: proven Lipschitz constant of every step", &F::lipschitz,
                    not_a_rate),
      number_key<F>("diameter", "number >= 0",
                    "last_iterate: of the set that is projected on, in deviations of the noise",
                    &F::diameter, not_a_strength),
      integer_key<F, std::uint64_t>(
          "batches", "last_iterate: batches of an epoch, in a fixed order", &F::batches, 1),
      number_key<F>("mu", "number >= 0", "last_iterate: its mu, if it is known", &F::mu,
                    not_a_strength)};
  return all;
}

const Keys<TuningFields>& tuning_keys() {
  using F = TuningFields;
  using namespace keys;
  static const Keys<F> all = {
      with(choice_key<F>(
               "tuned", "the best of several runs is released: distribution of their number",
               &F::tuned,
               by_name({RunsKind::geometric, RunsKind::logarithmic, RunsKind::negative_binomial,
                        RunsKind::poisson, RunsKind::fixed})),
           {"distribution"}),
      number_key<F>("runs_mean", "number > 1", "tuned: how many runs are expected", &F::runs_mean,
                    not_positive),
      number_key<F>("gamma", "number in (0, 1)", "tuned: instead of runs_mean", &F::gamma,
                    not_a_small_probability),
      number_key<F>("eta", "number > -1", "tuned negative_binomial: its shape", &F::eta,
                    not_a_shape),
      number_key<F>("tuned_delta", "number in (0, 1)",
                    "tuned: its part of delta beside other releases (a half)", &F::tuned_delta,
                    not_a_small_probability)};
  return all;
}

std::vector<KeyInfo> account_infos() {
  std::vector<KeyInfo> all = infos_of(account_keys());
  for (KeyInfo& info : infos_of(tuning_keys(), "tuning")) all.push_back(std::move(info));
  return all;
}

std::string_view name(RunsKind kind) {
  switch (kind) {
    case RunsKind::geometric: return "geometric";
    case RunsKind::logarithmic: return "logarithmic";
    case RunsKind::negative_binomial: return "negative_binomial";
    case RunsKind::poisson: return "poisson";
    case RunsKind::fixed: return "fixed";
  }
  throw InternalError("a distribution of runs without a name");
}

ReleaseFields read_release(const TomlTable& table) {
  ReleaseFields fields;
  read_keys(fields, table, release_keys());
  return fields;
}

const Keys<AccountQuestion>& account_keys() {
  using Q = AccountQuestion;
  using namespace keys;
  static const Keys<Q> all = [] {
    Keys<Q> list;
    for (const Key<ReleaseFields>& key : release_keys())
      list.push_back(of_part(key, &AccountQuestion::run));
    Keys<Q> own = {
        choice_key<Q>("adjacency",
                      "neighbours: a record more or less, a record made null, a record exchanged",
                      &Q::adjacency,
                      by_name({NeighbouringRelation::add_remove, NeighbouringRelation::zero_out,
                               NeighbouringRelation::replace_one})),
        integer_key<Q, std::uint64_t>("group_size", "records that are protected together",
                                      &Q::group_size, 1),
        with(number_key<Q>("target_delta", "number in (0, 1)", "delta of the guarantee",
                           &Q::target_delta, not_a_small_probability),
             {"delta"}),
        flag_key<Q>("allow_large_delta",
                    "take a target_delta above 1 / records too, where `records` is given",
                    &Q::allow_large_delta),
        with(number_key<Q>("target_epsilon", "number >= 0",
                           "find the noise (or the steps) for this epsilon, whichever is not given",
                           &Q::target_epsilon, not_an_epsilon),
             {"epsilon"}),
        number_key<Q>("target_advantage", "number in (0, 1)",
                      "find them for this membership advantage", &Q::target_advantage,
                      not_a_small_probability),
        number_key<Q>("target_tpr", "number in (0, 1]",
                      "find them for this true-positive rate at_fpr", &Q::target_tpr, not_a_rate),
        number_key<Q>("at_fpr", "number in [0, 1)", "false-positive rate of target_tpr", &Q::at_fpr,
                      not_a_rate),
        number_key<Q>("target_mu", "number > 0", "find them for this mu of Gaussian privacy",
                      &Q::target_mu, not_positive),
        number_key<Q>("mu_outside", "number in [0, 1)",
                      "probability outside which a mu of Gaussian privacy is to hold",
                      &Q::mu_outside, not_a_delta),
        numbers_key<Q>("baseline", "numbers in [0, 1]",
                       "reconstruction: what is reached without the outputs, 0.01 say",
                       &Q::baselines, not_a_rate),
        flag_key<Q>("explain", "what each part of the run contributes to epsilon", &Q::explain),
        numbers_key<Q>("epsilons", "numbers >= 0", "delta at these epsilons too", &Q::epsilons,
                       not_an_epsilon),
        shown_as(text_key<Q>("claim", "eps=X[,delta=X]",
                             "check this claim: PROVEN, NOT PROVEN or REFUTED", &Q::claim),
                 "eps=X[,delta=X]"),
        texts_key<Q>("rests_on", "texts",
                     "what the guarantee rests on besides, in words: a condition of the statement",
                     &Q::rests_on),
        file_key<Q>("history", "accountant state of Opacus (JSON) as further releases",
                    &Q::history),
        choice_key<Q>("method", "how epsilon is computed", &Q::method,
                      Choices<AccountMethod>{{"contour", AccountMethod::contour},
                                             {"pld", AccountMethod::pld}}),
        flag_key<Q>("check", "compare with a second method, by discretised losses and FFT",
                    &Q::check),
        integer_key<Q, std::int64_t>("format", "of a saved file", &Q::format, 1)};
    for (Key<Q>& key : own) list.push_back(std::move(key));
    for (Key<Q>& key : budget_keys<Q>()) list.push_back(std::move(key));
    list.push_back(flag_key<Q>(
        "made", "book releases that have been made already, even above the limit of the `budget`",
        &Q::made));
    return list;
  }();
  return all;
}

AccountQuestion read_account_question(const TomlTable& root) {
  AccountQuestion question;
  // The head of a saved file: require_whole_account() has looked at it.
  read_keys(question, root, account_keys(),
            {"release", "tuning", "sha256", "count", "proven_epsilon", "at_delta", "models"});
  if (root.has("tuning")) read_keys(question.tuning, root.table("tuning"), tuning_keys());
  if (root.has("release")) {
    for (const TomlTable& table : root.tables("release")) {
      question.releases.push_back(read_release(table));
    }
  }
  return question;
}

}  // namespace sfumato
