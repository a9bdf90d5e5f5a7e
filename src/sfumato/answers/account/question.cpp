#include "sfumato/answers/account/question.hpp"

#include <cmath>

#include "sfumato/data/keys/makers.hpp"
#include "sfumato/answers/account/state.hpp"

namespace sfumato {
namespace {

const char* not_a_small_probability(double value) {
  return value > 0.0 && value < 1.0 ? nullptr : "is not a probability in (0, 1)";
}
const char* not_a_rate(double value) {
  return value >= 0.0 && value <= 1.0 ? nullptr : "is not a probability in [0, 1]";
}
const char* not_positive(double value) {
  return std::isfinite(value) && value > 0.0 ? nullptr : "is not a finite positive number";
}

/// A key of the run as one of the question.
Key<AccountQuestion> of_run(const Key<ReleaseFields>& key) {
  return {key.name,
          key.type,
          key.help,
          [read = key.read](AccountQuestion& to, const TomlTable& table, const std::string& name) {
            read(to.run, table, name);
          },
          [write = key.write](const AccountQuestion& from) { return write(from.run); },
          key.aliases,
          key.required,
          key.kinds,
          key.shape};
}

}  // namespace

const Keys<AccountQuestion>& account_keys() {
  using Q = AccountQuestion;
  using namespace keys;
  static const Keys<Q> all = [] {
    Keys<Q> list;
    for (const Key<ReleaseFields>& key : release_keys()) list.push_back(of_run(key));
    Keys<Q> own = {
        choice_key<Q>("adjacency",
                      "neighbours: a record more or less, a record made null, a record exchanged",
                      &Q::adjacency,
                      by_name({NeighbouringRelation::add_remove, NeighbouringRelation::zero_out,
                               NeighbouringRelation::replace_one})),
        integer_key<Q, std::uint64_t>("group_size", "records that are protected together", &Q::group_size, 1),
        with(number_key<Q>("target_delta", "number in (0, 1)", "delta of the guarantee",
                           &Q::target_delta, not_a_small_probability),
             {"delta"}),
        with(number_key<Q>("target_epsilon", "number >= 0",
                           "find the noise (or the steps) for this epsilon, whichever is not given",
                           &Q::target_epsilon, not_an_epsilon),
             {"epsilon"}),
        number_key<Q>("target_advantage", "number in (0, 1)",
                      "find them for this membership advantage", &Q::target_advantage,
                      not_a_small_probability),
        number_key<Q>("target_tpr", "number in (0, 1]", "find them for this true-positive rate at_fpr",
                      &Q::target_tpr, not_a_rate),
        number_key<Q>("at_fpr", "number in [0, 1)", "false-positive rate of target_tpr", &Q::at_fpr,
                      not_a_rate),
        number_key<Q>("target_mu", "number > 0", "find them for this mu of Gaussian privacy",
                      &Q::target_mu, not_positive),
        numbers_key<Q>("epsilons", "numbers >= 0", "delta at these epsilons too", &Q::epsilons,
                       not_an_epsilon),
        text_key<Q>("claim", "eps=X[,delta=X]", "check this claim: PROVEN, NOT PROVEN or REFUTED",
                    &Q::claim),
        file_key<Q>("history", "accountant state of Opacus (JSON) as further releases", &Q::history),
        flag_key<Q>("check", "compare with a second method, by discretised losses and FFT", &Q::check),
        integer_key<Q, std::int64_t>("format", "of a saved file", &Q::format, 1, 1)};
    for (Key<Q>& key : own) list.push_back(std::move(key));
    return list;
  }();
  return all;
}

AccountQuestion read_account_question(const TomlTable& root) {
  AccountQuestion question;
  read_keys(question, root, account_keys(), {"release"});
  if (root.has("release")) {
    for (const TomlTable& table : root.tables("release")) {
      question.releases.push_back(read_release(table));
    }
  }
  return question;
}

}  // namespace sfumato
