#include "sfumato/account/account_answer.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "sfumato/account/budget_booking.hpp"
#include "sfumato/account/large_delta.hpp"
#include "sfumato/account/others.hpp"
#include "sfumato/account/releases.hpp"
#include "sfumato/audit/claim_check.hpp"
#include "sfumato/core/error.hpp"
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
    ReleaseFields run = question.run;
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

AccountedSetting accounted(const PrivateReleases& releases, Delta delta,
                           std::optional<double> multiplier, const AccountQuestion& question,
                           const Observer& observer) {
  const Accountant accountant(releases), watched = accountant.watched_by(observer);
  return {accountant,
          multiplier,
          epsilon_at(watched, delta, question.method, question.target_epsilon),
          watched.renyi_epsilon(delta),
          watched.clt_epsilon(delta),
          attacker_of(watched)};
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

ClaimAnswer check(const ClaimedGuarantee& claim, const Accountant& accountant,
                  AccountMethod method) {
  const double claimed = claim.epsilon.nats();
  const Enclosure found = epsilon_at(accountant, claim.delta, method, claimed);
  const Verdict verdict = found.upper.value <= claimed  ? Verdict::holds
                          : found.lower.value > claimed ? Verdict::violated
                                                        : Verdict::open;
  return {claim.epsilon, claim.delta, found, verdict};
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

void fill(AccountAnswer& found, Observer& observer) {
  const AccountQuestion& question = found.question;
  const Wanted wanted = wanted_of(question);
  const std::optional<ClaimedGuarantee> claim = claim_of(question);
  const Delta delta = found.delta;
  const PrivateReleases before = other_releases(question);
  std::vector<double> multipliers = question.run.noise_multiplier;
  const bool alone = !has_run(question) || (!question.history.empty() && multipliers.empty());
  if (alone) {
    found.settings.push_back(accounted(before, delta, std::nullopt, question, observer));
  } else {
    if (multipliers.size() < 2) multipliers = {0.0};  // one setting, whatever its noise
    for (const double multiplier : multipliers) {
      if (observer.stop_requested()) break;
      ReleaseFields fields = question.run;
      if (question.run.noise_multiplier.size() > 1) fields.noise_multiplier = {multiplier};
      PrivateRelease run = release_of(fields, wanted);
      if (wanted != Wanted::all) {
        found.calibration = calibrate(before, run, wanted, target_of(question, delta), observer);
      }
      PrivateReleases all = before;
      all.list.push_back(run);
      const bool sweep = question.run.noise_multiplier.size() > 1;
      found.settings.push_back(accounted(
          all, delta, sweep ? std::optional(multiplier) : std::nullopt, question, observer));
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
  if (claim) {
    found.claim = check(*claim, first, question.method);
    found.verdict = found.claim->verdict;
  }
  // Curves of a run that hides nothing show nothing, and take long.
  constexpr double kWorthDrawing = 1000.0;
  if (question.curves && found.settings.size() == 1 &&
      found.settings.front().epsilon.upper.value < kWorthDrawing) {
    found.trade_off = first.trade_off(false_positive_rates());
    found.over_steps = over_steps(first, delta, observer);
  }
}

}  // namespace

AccountAnswer answer(const AccountQuestion& question, Observer& observer) {
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
