#include "sfumato/account/account_answer.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "sfumato/account/accounted_run.hpp"
#include "sfumato/account/budget_booking.hpp"
#include "sfumato/account/large_delta.hpp"
#include "sfumato/account/others.hpp"
#include "sfumato/account/releases.hpp"
#include "sfumato/audit/claim_check.hpp"
#include "sfumato/core/error.hpp"
#include "sfumato/core/infinity.hpp"
#include "sfumato/core/parallel.hpp"

namespace sfumato {
namespace {

/// The claim to check; delta is that of the question where the text has none.
std::optional<ClaimedGuarantee> claim_of(const AccountQuestion& question) {
  if (question.claim.empty()) return std::nullopt;
  std::string text = question.claim;
  if (text.find("delta") == std::string::npos && question.target_delta) {
    text += fmt::format(",delta={}", *question.target_delta);
  }
  const bool has_delta = text.find("delta") != std::string::npos;
  const std::optional<ClaimedGuarantee> claim = parse_guarantee(text);
  if (!claim || !has_delta || claim->delta.probability() == 0.0) {
    throw InvalidArgument(
        fmt::format("claim = {} is not a claim", question.claim),
        "Write eps=3,delta=1e-5; delta may be left out where target_delta is given",
        Where::key("claim"));
  }
  return claim;
}

/// All that is missing, said at once.
void require_complete(const AccountQuestion& question, Wanted wanted) {
  std::vector<std::string> problems;
  std::string key;
  const auto complain = [&](const std::string& at, std::string problem) {
    if (problems.empty()) key = at;
    problems.push_back(std::move(problem));
  };
  if (!question.adjacency) {
    complain("adjacency",
             "adjacency is missing (add_remove, zero_out or replace_one: what is a neighbour?)");
  }
  if (!question.target_delta && claim_of(question) == std::nullopt) {
    complain("target_delta",
             "target_delta is missing (a probability below one over the number of records)");
  }
  if (question.target_tpr.has_value() != question.at_fpr.has_value()) {
    complain("target_tpr", "target_tpr and at_fpr go together");
  }
  const int targets = (question.target_epsilon ? 1 : 0) + (question.target_advantage ? 1 : 0) +
                      (question.target_tpr ? 1 : 0) + (question.target_mu ? 1 : 0);
  if (targets > 1) complain("target_epsilon", "more than one target is given: keep one");
  if (targets > 0 && question.method == AccountMethod::pld) {
    complain("method",
             "targets are met by the contour, whose numbers are narrower: leave method out");
  }
  const std::vector<double>& noises = question.run.noise_multiplier;
  if (std::find(noises.begin(), noises.end(), 0.0) != noises.end() ||
      question.run.noise_std == 0.0) {
    complain("noise_multiplier",
             "noise 0 hides nothing and has no epsilon: give a positive number");
  }
  const bool listed = !question.releases.empty() || !question.history.empty();
  // With a list, the head may describe no run; the sampler there belongs to the history.
  if (has_run(question) && (question.history.empty() || !question.run.noise_multiplier.empty())) {
    ReleaseFields run = plain_fields(question);
    if (run.noise_multiplier.size() > 1) run.noise_multiplier.resize(1);
    try {
      (void)release_of(run, wanted);
    } catch (const InvalidArgument& error) {
      complain(error.where().is_key() ? error.where().text() : "", error.advice());
    }
  } else if (!listed) {
    complain("noise_multiplier",
             "no run is described (noise_multiplier, sample_rate, steps, sampler)");
  } else if (wanted != Wanted::all) {
    complain("target_epsilon", "a target needs a run whose noise or steps can be found");
  }
  if (problems.empty()) return;
  throw InvalidArgument(fmt::format("{}", fmt::join(problems, "; ")), "",
                        key.empty() ? Where::here() : Where::key(key));
}

/// The number of records, where a run or a release names it: the largest.
std::optional<std::uint64_t> records_of(const AccountQuestion& question) {
  std::optional<std::uint64_t> most = question.run.records;
  for (const ReleaseFields& release : question.releases) {
    if (release.records) most = std::max(most.value_or(0), *release.records);
  }
  return most;
}

void require_bookable(const AccountQuestion& question) {
  if (question.budget.empty() && (!question.limit.empty() || question.made)) {
    throw InvalidArgument("is about a budget, and there is none", "Give `budget`, a file",
                          Where::key(question.made ? "made" : "limit"));
  }
  if (!question.budget.empty() && question.run.noise_multiplier.size() > 1) {
    throw InvalidArgument("several settings are compared, and one run can be booked",
                          "Give one noise_multiplier", Where::key("budget"));
  }
  if (!question.budget.empty() && question.group_size != 1) {
    throw InvalidArgument("a budget protects single records", "Leave `group_size` out",
                          Where::key("budget"));
  }
}

PrivacyTarget target_of(const AccountQuestion& question, Delta delta) {
  if (question.target_advantage) return AdvantageLimit{*question.target_advantage};
  if (question.target_tpr) return RateLimit{*question.target_tpr, *question.at_fpr};
  if (question.target_mu) return GdpLimit{*question.target_mu};
  return PrivacyBudget{Epsilon(question.target_epsilon.value()), delta};
}

AttackerView attacker_of(const Accountant& accountant) {
  return {accountant.advantage().upper, accountant.attack_accuracy(0.5).upper,
          accountant.tpr_bound(0.01), accountant.tpr_bound(0.001)};
}

/// Epsilon at delta. A search for it ends within a rounding of a round number that is proven by itself: that is shown then.
Enclosure epsilon_at(const Accountant& accountant, Delta delta, AccountMethod method,
                     std::optional<double> asked) {
  if (method == AccountMethod::pld) return accountant.epsilon_by_fft(delta);
  Enclosure found = accountant.epsilon(delta);
  if (asked && *asked < found.upper.value && *asked >= found.lower.value &&
      accountant.delta(Epsilon(*asked)).upper.value <= delta.probability()) {
    found.upper.value = *asked;
  }
  return found;
}

/// What an attack on the best of several runs reaches, by the sharp bound of its delta.
constexpr double kRoundedUp = 1.0 + 4e-15;
Claimed<double> smaller(const Claimed<double>& known, double value) {
  if (!(value < known.value)) return known;
  return {value, Claim::upper_bound, "sharp bound of the best of several runs"};
}
Claimed<double> rate_of(const TuningCost& cost, double fpr, const Claimed<double>& known) {
  double best = 1.0;
  for (const TuningCost::Point& at : cost.profile) {
    best = std::min(best, (at.delta + std::exp(at.epsilon) * fpr) * kRoundedUp);
  }
  return smaller(known, best);
}
AttackerView attacker_of(const TuningCost& cost, const AttackerView& known) {
  const double advantage = cost.profile.front().delta;
  return {smaller(known.advantage, advantage),
          smaller(known.accuracy, 0.5 * (1.0 + advantage) * kRoundedUp),
          rate_of(cost, 0.01, known.tpr_percent), rate_of(cost, 0.001, known.tpr_permille)};
}

AccountedSetting accounted(const AccountedRun& run, Delta delta, std::optional<double> multiplier,
                           const AccountQuestion& question, const Observer& observer) {
  const Accountant accountant(run.all), watched = accountant.watched_by(observer);
  if (!run.is_proven) {
    const auto all = [](double value) { return Claimed<double>{value, Claim::upper_bound}; };
    return {accountant,
            multiplier,
            run.epsilon().value(),
            {Epsilon(kInf), Claim::upper_bound},
            std::nullopt,
            {all(1.0), all(1.0), all(1.0), all(1.0)},
            run.tuning,
            run.normaliser,
            run.behind,
            false};
  }
  AccountedSetting made{accountant,
                        multiplier,
                        epsilon_at(watched, delta, question.method, question.target_epsilon),
                        watched.renyi_epsilon(delta),
                        watched.clt_epsilon(delta),
                        attacker_of(watched),
                        run.tuning,
                        run.normaliser,
                        run.behind};
  if (const auto known = run.epsilon()) made.epsilon = *known;
  const bool alone = run.all.list.size() == 1;
  if (made.tuning && alone && !made.tuning->profile.empty()) {
    made.attacker = attacker_of(*made.tuning, made.attacker);
  }
  return made;
}

/// Finds what is not given, and puts it into the run.
Calibration calibrate(const PrivateReleases& before, PrivateRelease& run, Wanted wanted,
                      const PrivacyTarget& target, const Observer& observer) {
  if (wanted == Wanted::all_but_steps) {
    run.steps = most_steps(before, run, target, &observer);
    if (run.steps == 0) {
      throw InvalidArgument("not even one step is within the target", "Add noise, or allow more",
                            Where::key("noise_multiplier"));
    }
    return {counts_epochs(run.sampler) ? Calibration::What::epochs : Calibration::What::steps,
            static_cast<double>(run.steps), target};
  }
  if (wanted == Wanted::all_but_batches) {
    run.batches = least_batches(before, run, target, &observer);
    return {Calibration::What::batches, static_cast<double>(run.batches), target};
  }
  // Only the noise of the run itself is changed: what was released before is done.
  const double multiplier = least_noise(before, {run}, target, &observer);
  if (double* noise = multiplier_of(run.mechanism)) *noise = multiplier;
  return {Calibration::What::noise, multiplier, target};
}

/// The same for the best of several runs: of an epsilon and of noise.
Calibration calibrate_tuned(const AccountQuestion& question, const PrivateReleases& before,
                            PrivateRelease& run, Wanted wanted, Delta delta,
                            const Observer& observer) {
  const PrivacyTarget target = target_of(question, delta);
  const auto* budget = std::get_if<PrivacyBudget>(&target);
  double* noise = multiplier_of(run.mechanism);
  if (budget == nullptr || wanted != Wanted::all_but_noise || noise == nullptr) {
    throw InvalidArgument("of a tuned run the noise is found, for an epsilon",
                          "Give target_epsilon and leave the noise out", Where::key("tuned"));
  }
  *noise = least_noise_of_tuned(question, before, run, *budget, observer);
  return {Calibration::What::noise, *noise, target};
}

ClaimAnswer check(const ClaimedGuarantee& claim, const Enclosure& found) {
  const double claimed = claim.epsilon.nats();
  const Verdict verdict = found.upper.value <= claimed  ? Verdict::holds
                          : found.lower.value > claimed ? Verdict::violated
                                                        : Verdict::open;
  return {claim.epsilon, claim.delta, found, verdict};
}

/// What has a mu for every delta, however large: not a step that discloses with some probability.
bool has_gaussian_noise_alone(const AccountedSetting& setting) {
  const std::vector<PrivateRelease>& list = setting.accountant.releases().list;
  return !list.empty() && std::all_of(list.begin(), list.end(), [](const PrivateRelease& release) {
    return std::holds_alternative<GaussianNoise>(release.mechanism);
  });
}

std::vector<double> false_positive_rates() {
  std::vector<double> rates;
  for (double exponent = -6.0; exponent < -0.05; exponent += 0.2)
    rates.push_back(std::pow(10.0, exponent));
  for (const double rate : {0.9, 0.95, 0.99, 0.999, 1.0}) rates.push_back(rate);
  return rates;
}

/// Epsilon after a part of every release, for the page.
std::vector<EpsilonAtSteps> over_steps(const Accountant& accountant, Delta delta,
                                       const Observer& observer) {
  std::uint64_t most = 0;
  for (const PrivateRelease& release : accountant.releases().list)
    most = std::max(most, release.steps);
  std::vector<EpsilonAtSteps> points;
  PrivateReleases last{accountant.releases().relation};
  if (most < 2) return points;
  for (int i = 1; i <= 20; ++i) {
    const double share = i / 20.0;
    PrivateReleases part = accountant.releases();
    for (PrivateRelease& release : part.list) {
      release.steps =
          static_cast<std::uint64_t>(std::ceil(share * static_cast<double>(release.steps)));
    }
    // With few steps several shares are the same.
    if (points.empty() || !(part.list == last.list)) {
      points.push_back({share, Accountant(part).watched_by(observer).epsilon(delta).upper.value});
    } else {
      points.push_back({share, points.back().epsilon});
    }
    last = part;
  }
  return points;
}

SecondOpinion second_opinion(const Accountant& accountant, double epsilon) {
  const Epsilon at(std::isfinite(epsilon) ? epsilon : 1.0);
  const Enclosure contour = accountant.delta(at), fft = accountant.delta_by_fft(at);
  return {contour, fft, accountant.methods_agree(at)};
}

}  // namespace

namespace {

/// One number for the curve, reconstruction, and what the parts contribute, of the first setting.
void add_views(AccountAnswer& found, const Accountant& first, bool is_special,
               const Observer& observer) {
  const AccountQuestion& question = found.question;
  const AccountedSetting& setting = found.settings.front();
  if (!question.baselines.empty()) {
    if (question.adjacency == NeighbouringRelation::replace_one) {
      throw InvalidArgument("reconstruction is bounded for add_remove and zero_out neighbours",
                            "Ask with one of these", Where::key("baseline"));
    }
    for (const double baseline : question.baselines) {
      Claimed<double> success{1.0, Claim::upper_bound};
      if (setting.is_proven) success = first.tpr_bound(baseline);
      const bool alone = setting.accountant.releases().list.size() == 1;
      if (setting.tuning && alone) success = rate_of(*setting.tuning, baseline, success);
      found.baselines.push_back({baseline, success});
    }
  }
  // Beyond it one number says nothing.
  constexpr double kMostEpsilon = 50.0;
  if (question.mu_outside && setting.is_proven) {
    found.gdp = gdp_summary(setting.accountant.releases(), *question.mu_outside, &observer);
  } else if (found.settings.size() == 1 && !is_special && has_gaussian_noise_alone(setting) &&
             setting.epsilon.upper.value < kMostEpsilon) {
    const double outside = std::min(1e-6, 0.1 * found.delta.probability());
    found.gdp = gdp_summary(setting.accountant.releases(), outside, &observer);
  }
  if (question.explain) found.parts = explained_parts(found, observer);
}

void fill(AccountAnswer& found, Observer& observer) {
  const AccountQuestion& question = found.question;
  const Wanted wanted = wanted_of(question);
  const std::optional<ClaimedGuarantee> claim = claim_of(question);
  const Delta delta = found.delta;
  const PrivateReleases before = other_releases(question);
  std::vector<double> multipliers = question.run.noise_multiplier;
  const bool alone = !has_run(question) || (!question.history.empty() && multipliers.empty());
  std::optional<PrivateRelease> last;
  if (alone) {
    found.settings.push_back(accounted({before}, delta, std::nullopt, question, observer));
  } else {
    if (multipliers.size() < 2) multipliers = {0.0};  // one setting, whatever its noise
    for (const double multiplier : multipliers) {
      if (observer.stop_requested()) break;
      ReleaseFields fields = plain_fields(question);
      if (question.run.noise_multiplier.size() > 1) fields.noise_multiplier = {multiplier};
      PrivateRelease run = release_of(fields, wanted);
      if (wanted != Wanted::all) {
        found.calibration =
            is_tuned(question)
                ? calibrate_tuned(question, before, run, wanted, delta, observer)
                : calibrate(before, run, wanted, target_of(question, delta), observer);
      }
      const bool sweep = question.run.noise_multiplier.size() > 1;
      found.settings.push_back(accounted(accounted_run(question, before, run, delta, observer),
                                         delta, sweep ? std::optional(multiplier) : std::nullopt,
                                         question, observer));
      if (!last) last = run;
    }
  }
  if (found.settings.empty()) {
    found.stopped = true;
    return;
  }
  const Accountant first = found.settings.front().accountant.watched_by(observer);
  for (const double epsilon : question.epsilons)
    found.deltas.push_back(first.delta(Epsilon(epsilon)));
  if (!alone) found.others = other_accounts(question, first, delta);
  if (question.check)
    found.second = second_opinion(first, found.settings.front().epsilon.upper.value);
  const bool is_special = !alone && (is_tuned(question) || may_move(question.run));
  if (claim) {
    found.claim = check(*claim, [&] {
      if (!is_special) {
        return epsilon_at(first, claim->delta, question.method, claim->epsilon.nats());
      }
      // The known step was made for another delta, it may be.
      const AccountedRun at = accounted_run(question, before, *last, claim->delta, observer);
      const auto known = at.epsilon();
      return known ? *known : Accountant(at.all).epsilon(claim->delta);
    }());
    found.verdict = found.claim->verdict;
  }
  add_views(found, first, is_special, observer);
  // Curves of a run that hides nothing show nothing, and take long.
  constexpr double kWorthDrawing = 1000.0;
  if (question.curves && found.settings.size() == 1 && !is_special &&
      found.settings.front().epsilon.upper.value < kWorthDrawing) {
    found.trade_off = first.trade_off(false_positive_rates());
    found.over_steps = over_steps(first, delta, observer);
  }
}

}  // namespace

AccountAnswer answer(const AccountQuestion& question, Observer& observer) {
  require_consistent(question);
  require_complete(question, wanted_of(question));
  require_bookable(question);
  const std::optional<ClaimedGuarantee> claim = claim_of(question);
  const Delta delta(question.target_delta ? *question.target_delta : claim->delta.probability());
  AccountAnswer found{question, delta, {}};
  if (const std::optional<std::uint64_t> records = records_of(question)) {
    // Claims too: they would hold of whatever publishes records as they are.
    if (question.target_delta) {
      require_small_delta(*question.target_delta, *records, question.allow_large_delta);
    }
    if (claim) {
      require_small_delta(claim->delta.probability(), *records, question.allow_large_delta,
                          Where::key("claim"));
    }
    const double largest = std::max(delta.probability(), claim ? claim->delta.probability() : 0.0);
    found.delta_warning = large_delta_warning(largest, *records);
  }
  try {
    fill(found, observer);
  } catch (const Stopped&) {
    found.stopped = true;
  }
  if (!question.budget.empty() && !found.stopped) {
    BudgetBooking booking(
        question.budget, question.limit, found.settings.front().accountant,
        {"account", records_of(question), question.allow_large_delta, question.made});
    booking.release("");
    found.booked = budget_text(booking.state());
  }
  return found;
}

}  // namespace sfumato
