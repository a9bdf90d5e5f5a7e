#include "sfumato/lab/audit/audit_question.hpp"

#include "lab/audit/audit_keys.hpp"
#include "sfumato/data/keys/makers.hpp"

namespace sfumato::lab {
namespace {

constexpr std::int64_t kMostPlanned = 10'000'000;  // as many as runs_to_refute() looks for

[[noreturn]] void refuse(const char* key, const char* problem) {
  throw InvalidArgument(problem, "", Where::key(key));
}

void check_ledger(const AuditQuestion& question) {
  constexpr const char* kImported = "is for imported scores; a ledger has its own";
  if (question.unit) refuse("unit", kImported);
  if (question.larger_means != LargerMeans::member) refuse("larger_means", kImported);
  if (question.pool) refuse("pool", kImported);
  if (question.independent_worlds) refuse("independent_seeds", kImported);
  if (question.randomised) refuse("randomised", kImported);
  if (question.adjacency) refuse("adjacency", kImported);
  if (question.access) refuse("access", kImported);
}

void check_plan(const AuditQuestion& question) {
  constexpr const char* kScores = "is for scores: a plan has none";
  if (!question.policy.empty()) refuse("policy", kScores);
  if (!question.score.empty()) refuse("score", kScores);
  if (question.claim) refuse("claim", "is what --plan says already");
  if (!question.deltas.empty()) refuse("delta", "a plan has that of its claim: eps=E,delta=D");
  if (!question.epsilons.empty()) refuse("epsilons", kScores);
  if (question.unit) refuse("unit", kScores);
  if (question.larger_means != LargerMeans::member) refuse("larger_means", kScores);
  if (question.pool) refuse("pool", kScores);
  if (question.independent_worlds) refuse("independent_seeds", kScores);
  if (question.randomised) refuse("randomised", kScores);
  if (question.guesses) refuse("guesses", kScores);
  if (question.model != 1) refuse("model", kScores);
  if (question.adjacency) refuse("adjacency", kScores);
  if (question.access) refuse("access", kScores);
}

void check_scores(const AuditQuestion& question, bool layout) {
  if (!question.policy.empty()) refuse("policy", "is for ledgers, not for imported scores");
  if (!question.score.empty()) refuse("score", "is for ledgers, not for imported scores");
  if (!question.unit) refuse("unit", "is required for imported scores: models or records");
  const bool models = question.unit == ScoreUnit::models;
  if (question.pool && !models) {
    refuse("pool", "needs the `unit` models: the columns of records share their coin flips");
  }
  if (question.randomised && models) {
    refuse("randomised", "needs the `unit` records: canaries are records");
  }
  if (question.guesses && !question.randomised) refuse("guesses", "needs `randomised`");
  if (question.model != 1 && !(question.randomised && layout)) {
    refuse("model", "needs `randomised` and `logits`");
  }
  if (question.claim && !models && !question.randomised) {
    refuse("claim",
           "scores of records on one model cannot bound epsilon, unless the inclusion of each was "
           "random (`randomised`)");
  }
}

}  // namespace

const Keys<AuditQuestion>& audit_keys() {
  using namespace keys;
  using Q = AuditQuestion;
  static const Keys<Q> all = [] {
    Key<Q> unit = choice_key<Q, ScoreUnit>("unit",
                                           "what each score comes from: a separate model, or a "
                                           "record of one model",
                                           &Q::unit,
                                           {{"models", ScoreUnit::models},
                                            {"model", ScoreUnit::models},
                                            {"records", ScoreUnit::records},
                                            {"record", ScoreUnit::records}});
    unit.type = "models | records";
    unit.value = "models|records";
    unit.tells_choices = false;
    Keys<Q> list = {
        file_key<Q>("ledger", "ledger written by `study run`", &Q::ledger),
        file_key<Q>(
            "members",
            "scores of models trained with the record (CSV or NPY, one column per pair or score)",
            &Q::members),
        with(file_key<Q>("nonmembers", "scores of models trained without it", &Q::nonmembers),
             {"non_members"}),
        file_key<Q>("logits", "shadow models as LiRA stores them: logits, models x records",
                    &Q::logits),
        file_key<Q>("membership",
                    "with logits: 1 where the model was trained on the record, else 0",
                    &Q::membership),
        shown_as(Key<Q>{"plan", "eps=E,delta=D",
                        "before training: how many models it takes to refute this claim (delta: "
                        "1e-5 unless "
                        "given)",
                        [](Q& to, const TomlTable& table, const std::string& key) {
                          to.plan = read_claim(table, key);
                        },
                        [](const Q& from) {
                          return from.plan ? toml_text(guarantee_text(*from.plan)) : std::string();
                        }},
                 "eps=E,delta=D"),
        integer_key<Q, std::uint64_t>("runs",
                                      "with plan: models per data set; what they can show at most",
                                      &Q::runs, 1, kMostPlanned),
        std::move(unit),
        choice_key<Q, LargerMeans>(
            "larger_means", "what a larger score suggests", &Q::larger_means,
            {{"member", LargerMeans::member}, {"nonmember", LargerMeans::nonmember}})};
    for (Key<Q>& key : ledger_audit_keys<Q>()) list.push_back(std::move(key));
    list.push_back(flag_key<Q>(
        "pool", "the columns are pairs that each run drew at random: treat them as one sample",
        &Q::pool));
    list.push_back(
        with(flag_key<Q>("independent_seeds",
                         "members and non-members share no seeds: add a credible interval",
                         &Q::independent_worlds),
             {"independent_worlds"}));
    list.push_back(with(
        flag_key<Q>("randomised", "each record was included by a fair coin flip: audit in one run",
                    &Q::randomised),
        {"randomized"}));
    list.push_back(integer_key<Q>("model", "which model to audit in one run, from 1 (with logits)",
                                  &Q::model, 1));
    list.push_back(choice_key<Q, Adjacency>(
        "adjacency", "how D' differs from D; part of the statement", &Q::adjacency,
        {{"remove", Adjacency::remove}, {"replace", Adjacency::replace}}));
    list.push_back(choice_key<Q, ScoreAccess>(
        "access", "what the attacker sees; part of the statement", &Q::access,
        {{"black-box", ScoreAccess::outputs}, {"white-box", ScoreAccess::weights}}));
    return list;
  }();
  return all;
}

void check(const AuditQuestion& question) {
  const bool pair = !question.members.empty() || !question.nonmembers.empty();
  const bool layout = !question.logits.empty() || !question.membership.empty();
  const bool ledger = !question.ledger.empty();
  const bool plan = question.plan.has_value();
  if (int{pair} + int{layout} + int{ledger} + int{plan} != 1) {
    refuse("ledger",
           "Give one of the four: a ledger, `members` and `nonmembers`, `logits` and `membership`, "
           "or `plan`");
  }
  if (question.runs && !plan) refuse("runs", "is for plans: it needs `plan`");
  if (pair && question.members.empty()) refuse("members", "is missing: `nonmembers` needs it");
  if (pair && question.nonmembers.empty()) refuse("nonmembers", "is missing: `members` needs it");
  if (layout && question.logits.empty()) refuse("logits", "is missing: `membership` needs it");
  if (layout && question.membership.empty()) refuse("membership", "is missing: `logits` needs it");
  if (plan) {
    check_plan(question);
  } else if (ledger) {
    check_ledger(question);
  } else {
    check_scores(question, layout);
  }
  check(static_cast<const LedgerAuditOptions&>(question));
}

}  // namespace sfumato::lab
