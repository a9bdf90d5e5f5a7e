#include "sfumato/account/accounted_run.hpp"

#include <fmt/format.h>

#include <cmath>

#include "sfumato/core/error.hpp"
#include "sfumato/core/infinity.hpp"

namespace sfumato {
namespace {

/// A known step pays a little less than the delta that it is asked at, so that rounding does not leave it without an epsilon.
constexpr double kNearly = 1.0 - 1e-9;

[[noreturn]] void refuse(const char* key, const std::string& problem, const std::string& remedy) {
  throw InvalidArgument(problem, remedy, Where::key(key));
}

AccountedRun plain_run(const PrivateReleases& before, const PrivateRelease& run) {
  AccountedRun made{before};
  made.all.list.push_back(run);
  return made;
}

AccountedRun tuned_run(const AccountQuestion& question, const PrivateReleases& before,
                       const PrivateRelease& run, Delta delta, const Observer& observer) {
  const RunsDistribution runs = runs_of(question.tuning);
  AccountedRun made{before};
  PrivateReleases base{before.relation, 1, {run}};
  if (const auto* fixed = std::get_if<FixedRuns>(&runs)) {
    const double steps = static_cast<double>(fixed->runs) * static_cast<double>(run.steps);
    if (!(steps < 0x1p53)) refuse("runs_mean", "so many runs have too many steps", "Give fewer");
    made.tuning = tuning_cost(base, runs, delta, &observer);
    PrivateRelease all = run;
    all.steps = static_cast<std::uint64_t>(steps);
    made.all.list.push_back(all);
    add_conditions(made.all, conditions_of_tuning(runs));
    return made;
  }
  const double share = before.list.empty() ? 1.0
                       : question.tuning.tuned_delta
                           ? *question.tuning.tuned_delta / delta.probability()
                           : 0.5;
  if (!(share <= 1.0)) {
    refuse("tuned_delta", "is more than target_delta", "Give a part of it");
  }
  const Delta paid(delta.probability() * share * kNearly);
  made.tuning = tuning_cost(base, runs, paid, &observer);
  if (!std::isfinite(made.tuning->epsilon)) {
    refuse("tuned", "one run has no finite epsilon at the delta that is left for it",
           "Add noise, or allow a larger delta");
  }
  made.all.list.push_back({KnownStep{Epsilon(made.tuning->epsilon), paid}});
  made.behind = {run};
  add_conditions(made.all, {fmt::format("every run that is tuned: {}", describe(run))});
  add_conditions(made.all, conditions_of(base));
  add_conditions(made.all, conditions_of_tuning(runs));
  return made;
}

AccountedRun normalised_run(const AccountQuestion& question, const PrivateReleases& before,
                            const PrivateRelease& run, Delta delta) {
  const ReleaseFields& fields = question.run;
  const Delta paid(delta.probability() * kNearly);
  AccountedRun made{before};
  made.normaliser =
      normaliser_finding({fields.normaliser, before.relation, fields.records.value_or(1),
                          fields.dimension.value_or(1), run},
                         paid);
  if (made.normaliser->pairs.empty()) {
    made.all.list.push_back(run);
    add_conditions(
        made.all,
        {before.relation == NeighbouringRelation::add_remove
             ? fmt::format("there are {} records, for which the normaliser is that of one "
                           "record more or less",
                           *fields.records)
             : "the number of records is public"});
    return made;
  }
  made.behind = {run};
  const double upper = made.normaliser->epsilon.upper.value;
  made.is_proven = std::isfinite(upper);
  if (!made.is_proven) {
    made.all.list.push_back(run);
    return made;
  }
  made.all.list.push_back({KnownStep{Epsilon(upper), paid}});
  add_conditions(made.all, {fmt::format("the release: {}, divided by {} of exactly {} records",
                                        describe(run), name(fields.normaliser), *fields.records)});
  // All but the one that is not so: a constant normaliser.
  for (const std::string& condition : conditions_of({before.relation, 1, {run}})) {
    if (condition != constant_normaliser_condition()) add_conditions(made.all, {condition});
  }
  return made;
}

}  // namespace

std::optional<Enclosure> AccountedRun::epsilon() const {
  if (normaliser && !normaliser->pairs.empty()) return normaliser->epsilon;
  if (tuning && !behind.empty() && all.list.size() == 1) {
    return Enclosure{{0.0, Claim::lower_bound, "nothing is known from below for these releases"},
                     {tuning->epsilon, Claim::upper_bound,
                      tuning->sharp ? "sharp bound of the best of several runs"
                                    : "simple bound of the best of several runs"}};
  }
  return std::nullopt;
}

bool is_tuned(const AccountQuestion& question) { return question.tuning.tuned.has_value(); }

bool may_move(const ReleaseFields& run) {
  return run.normaliser == Normaliser::int_qn || run.normaliser == Normaliser::n;
}

ReleaseFields plain_fields(const AccountQuestion& question) {
  ReleaseFields fields = question.run;
  if (may_move(fields)) fields.normaliser = Normaliser::declared;
  return fields;
}

RunsDistribution runs_of(const TuningFields& tuning) {
  const RunsKind kind = tuning.tuned.value();
  const auto whole_runs = [&] {
    const double runs = tuning.runs_mean.value_or(0.0);
    if (!(runs >= 1.0 && runs == std::floor(runs) && runs <= 1e6)) {
      refuse("runs_mean", fmt::format("runs_mean = {} is not a whole number of runs", runs),
             "Give the number of runs: all of them are paid for");
    }
    return FixedRuns{static_cast<std::uint64_t>(runs)};
  };
  if (kind == RunsKind::fixed) return whole_runs();
  if (kind == RunsKind::poisson) {
    const RunsDistribution runs = PoissonRuns{tuning.runs_mean.value_or(0.0)};
    require_valid(runs);
    return runs;
  }
  const double eta = kind == RunsKind::geometric     ? 1.0
                     : kind == RunsKind::logarithmic ? 0.0
                                                     : tuning.eta.value_or(1.0);
  RunsDistribution runs = tuning.gamma ? NegativeBinomialRuns{eta, *tuning.gamma}
                                       : negative_binomial_with_mean(eta, *tuning.runs_mean);
  require_valid(runs);
  return runs;
}

void require_consistent(const AccountQuestion& question) {
  const TuningFields& tuning = question.tuning;
  if (!tuning.tuned) {
    const char* key = tuning.runs_mean     ? "runs_mean"
                      : tuning.gamma       ? "gamma"
                      : tuning.eta         ? "eta"
                      : tuning.tuned_delta ? "tuned_delta"
                                           : nullptr;
    if (key != nullptr) {
      refuse(
          key, "is about tuning, and `tuned` is not given",
          "Give tuned = \"geometric\", the distribution from which the number of runs was drawn");
    }
  } else {
    const bool gamma_fits = *tuning.tuned != RunsKind::poisson && *tuning.tuned != RunsKind::fixed;
    if (tuning.gamma && !gamma_fits) {
      refuse("gamma", fmt::format("is not of {} runs", name(*tuning.tuned)), "Give runs_mean");
    }
    if (tuning.runs_mean.has_value() == tuning.gamma.has_value()) {
      refuse("runs_mean", "is missing, or gamma is given besides",
             "Say how many runs are expected, by one of them");
    }
    if (tuning.eta && *tuning.tuned != RunsKind::negative_binomial) {
      refuse("eta", fmt::format("is not of {} runs", name(*tuning.tuned)),
             "Give tuned = \"negative_binomial\", or leave eta out");
    }
    if (tuning.eta.has_value() != (*tuning.tuned == RunsKind::negative_binomial)) {
      refuse("eta", "is missing", "Give it: 1 is geometric, 0 logarithmic");
    }
    if (question.group_size != 1) {
      refuse("group_size", "the cost of tuning is known for single records", "Leave it out");
    }
    if (tuning.tuned_delta && *tuning.tuned != RunsKind::fixed && question.releases.empty() &&
        question.history.empty()) {
      refuse("tuned_delta", "there are no other releases to share delta with", "Leave it out");
    }
    (void)runs_of(tuning);
  }
  if (!may_move(question.run)) {
    if (question.run.dimension) {
      refuse("dimension", "is only needed for a normaliser that depends on the records",
             "Give normaliser = \"int_qn\" (Opacus) or \"n\", or leave it out");
    }
    return;
  }
  if (!question.run.records || !question.run.dimension) {
    refuse(
        question.run.records ? "dimension" : "records",
        fmt::format("is missing: normaliser {} needs the number of records, and how many numbers "
                    "a step releases",
                    name(question.run.normaliser)),
        "Give both, or divide by a declared constant");
  }
  if (tuning.tuned || !question.releases.empty() || !question.history.empty() ||
      question.group_size != 1) {
    refuse("normaliser",
           "a normaliser that depends on the records is accounted for one run by itself: without "
           "other releases, tuning and groups",
           "Divide by a declared constant, and everything composes");
  }
  if (question.target_epsilon || question.target_advantage || question.target_tpr ||
      question.target_mu) {
    refuse("normaliser", "targets are met for a sum that is divided by a constant",
           "Divide by a declared constant, or give the noise and see what this costs");
  }
}

AccountedRun accounted_run(const AccountQuestion& question, const PrivateReleases& before,
                           const PrivateRelease& run, Delta delta, const Observer& observer) {
  if (is_tuned(question)) return tuned_run(question, before, run, delta, observer);
  if (may_move(question.run)) return normalised_run(question, before, run, delta);
  return plain_run(before, run);
}

double least_noise_of_tuned(const AccountQuestion& question, const PrivateReleases& before,
                            const PrivateRelease& run, const PrivacyBudget& budget,
                            const Observer& observer) {
  // One run alone needs less noise than the best of several.
  const double alone = least_noise(before, {run}, budget, &observer);
  PrivateRelease with = run;
  double* noise = multiplier_of(with.mechanism);
  const auto meets_it = [&](double multiplier) {
    *noise = multiplier;
    const AccountedRun made = accounted_run(question, before, with, budget.delta, observer);
    return Accountant(made.all).epsilon(budget.delta).upper.value <= budget.epsilon.nats();
  };
  double low = alone, high = 1.25 * alone;
  while (!meets_it(high)) {
    low = high;
    high *= 1.5;
    if (high > 1e9) {
      refuse("target_epsilon", "no noise meets the target for the best of so many runs",
             "Allow more, or expect fewer runs");
    }
  }
  while (high > low * (1.0 + 1e-5)) {
    const double middle = std::sqrt(low * high);
    (meets_it(middle) ? high : low) = middle;
  }
  return high;
}

}  // namespace sfumato
