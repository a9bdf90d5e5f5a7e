#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "sfumato/account/account_answer.hpp"
#include "sfumato/account/account_tables.hpp"
#include "sfumato/account/accounted_run.hpp"
#include "sfumato/audit/claim_check.hpp"
#include "sfumato/core/error.hpp"
#include "sfumato/core/overloaded.hpp"
#include "sfumato/problem/closing.hpp"
#include "sfumato/report/number.hpp"
#include "sfumato/report/sentences.hpp"

namespace sfumato {
namespace {

const Maths kEpsilon{"epsilon"};
const Maths kDelta{"delta"};

/// "epsilon <= 3.1", rounded up.
Text at_most(double epsilon) {
  return say("{} {}", Maths{"epsilon <="}, ClaimedNumber{{epsilon, Claim::upper_bound}});
}

/// "delta = 1e-05".
Text at(Delta delta) { return say("{} = {}", kDelta, delta.probability()); }

Text guarantee_sentence(const AccountAnswer& answer, const AccountedSetting& setting) {
  const double epsilon = setting.epsilon.upper.value;
  if (!std::isfinite(epsilon)) return say("No finite epsilon is proven at {}.", at(answer.delta));
  if (setting.tuning) {
    return say("{} at {} with the cost of tuning, proven for all data sets that {}.",
               at_most(epsilon), at(answer.delta),
               describe_neighbours(setting.accountant.releases()));
  }
  return say("{} at {}, proven for all data sets that {}.", at_most(epsilon), at(answer.delta),
             describe_neighbours(setting.accountant.releases()));
}

Text target_text(const PrivacyTarget& target) {
  return std::visit(Overloaded{[](const PrivacyBudget& budget) {
                                 return say("{} {} at {}", Maths{"epsilon <="},
                                            budget.epsilon.nats(), at(budget.delta));
                               },
                               [](const AdvantageLimit& limit) {
                                 return say("an advantage of at most {}", limit.advantage);
                               },
                               [](const RateLimit& limit) {
                                 return say("a TPR of at most {} at an FPR of {}", limit.tpr,
                                            limit.fpr);
                               },
                               [](const GdpLimit& limit) {
                                 return say("{} {} of Gaussian privacy", Maths{"mu <="}, limit.mu);
                               }},
                    target);
}

/// What was looked for; the noise with the digits that matter, rounded up.
void state_calibration(const AccountAnswer& answer, Document& document) {
  if (!answer.calibration) return;
  const Calibration& found = *answer.calibration;
  const Text target = target_text(found.target);
  switch (found.what) {
    case Calibration::What::noise:
      document.state(StatementKind::info,
                     found.value == 0.0
                         ? say("No noise is needed for {}: each record is sampled too rarely to "
                               "matter at this delta. Look at delta again.",
                               target)
                         : say("Noise multiplier {} is the least for {}.",
                               format_number(found.value, Rounding::up, 6), target));
      return;
    case Calibration::What::steps:
    case Calibration::What::epochs:
      document.state(StatementKind::info,
                     say("At most {} {} for {}.", found.value,
                         found.what == Calibration::What::steps ? "steps" : "epochs", target));
      return;
    case Calibration::What::batches:
      document.state(StatementKind::info,
                     say("{} batches an epoch are the fewest for {}.", found.value, target));
      return;
  }
}

void state_claim(const AccountAnswer& answer, Document& document) {
  if (!answer.claim) return;
  const ClaimAnswer& claim = *answer.claim;
  const Text text = say("{} = {} at {}", kEpsilon, claim.epsilon.nats(), at(claim.delta));
  const double upper = claim.proven.upper.value;
  const VerdictWord not_proven{"NOT PROVEN"};
  switch (claim.verdict) {
    case Verdict::holds:
      document.state(StatementKind::verdict, say("{}: {}.", VerdictWord{"PROVEN"}, text),
                     Outcome::good);
      break;
    case Verdict::violated:
      document.state(StatementKind::verdict,
                     say("{}: {}. On some data a run with these settings reveals {} {}.",
                         VerdictWord{"REFUTED"}, text, Maths{"epsilon >="},
                         ClaimedNumber{{claim.proven.lower.value, Claim::lower_bound}}),
                     Outcome::bad);
      break;
    default:
      document.state(StatementKind::verdict,
                     std::isfinite(upper)
                         ? say("{}: {}. Proven is {}.", not_proven, text, at_most(upper))
                         : say("{}: {}. No finite epsilon is.", not_proven, text),
                     Outcome::open);
  }
  document.add_verdict(
      {"",
       guarantee_text({claim.epsilon, claim.delta}),
       claim.verdict,
       claim.proven.lower.value > 0.0 ? std::optional(claim.proven.lower.value) : std::nullopt,
       {},
       {}});
}

/// "mu <= 0.58 of Gaussian privacy, but for an event of probability 1e-6": one number for the curve.
void state_gdp(const AccountAnswer& answer, Document& document) {
  if (!answer.gdp) return;
  const GdpSummary& gdp = *answer.gdp;
  const Text mu = say("{} {} of Gaussian privacy", Maths{"mu <="},
                      ClaimedNumber{{gdp.mu_upper, Claim::upper_bound}});
  document.state(StatementKind::info,
                 gdp.outside == 0.0
                     ? say("One number for the whole curve: {}, at all epsilons.", mu)
                     : say("One number for the whole curve: {} outside an event of probability {} "
                           "(regret {}).",
                           mu, gdp.outside, ClaimedNumber{{gdp.regret, Claim::upper_bound}}));
}

/// What a normaliser that depends on the records does, and the mend.
void state_normaliser(const AccountAnswer& answer, Document& document) {
  const AccountedSetting& first = answer.settings.front();
  if (!first.normaliser) return;
  const NormaliserFinding& finding = *first.normaliser;
  const std::string_view word = name(answer.question.run.normaliser);
  if (finding.pairs.empty()) {
    document.state(StatementKind::info,
                   say("Normaliser {}: it is the same for both neighbours, and nothing changes.",
                       std::string(word)));
    return;
  }
  const NormaliserPair& pair = finding.pairs.front();
  document.state(
      StatementKind::warning,
      say("normaliser {} is {} with a record and {} without it: every step shows which, by the "
          "size of its noise{}. Divide by a declared constant instead, the batch size that is "
          "expected of a declared number of records: then noise is equal, and sampling helps.",
          std::string(word), pair.with, pair.without,
          finding.is_exact  ? ""
          : first.is_proven ? ", and no amplification by sampling is proven"
                            : ", and for this sampler nothing is proven"));
}

void state_second(const AccountAnswer& answer, Document& document) {
  if (!answer.second) return;
  const SecondOpinion& second = *answer.second;
  if (second.agree) {
    document.state(StatementKind::info,
                   say("Checked by a second method: delta there is between {} and {} by "
                       "discretised losses and FFT, which agrees.",
                       ClaimedNumber{{second.fft.lower.value, Claim::lower_bound}},
                       ClaimedNumber{{second.fft.upper.value, Claim::upper_bound}}));
  } else {
    document.state(StatementKind::warning,
                   fmt::format("the two methods exclude each other ({} to {} and {} to {}): trust "
                               "neither and report this with the command line.",
                               second.contour.lower.value, second.contour.upper.value,
                               second.fft.lower.value, second.fft.upper.value));
  }
}

void state_others(const AccountAnswer& answer, Document& document) {
  for (const OtherAccount& other : answer.others) {
    document.state(
        StatementKind::info,
        say("{}, sample rate {}, {} steps: {}, which {}.", other.who, other.sample_rate,
            fmt::to_string(other.steps), at_most(other.epsilon.value.nats()), other.why));
  }
}

void add_results(const AccountAnswer& answer, Document& document) {
  const Cell delta(answer.delta.probability());
  for (const AccountedSetting& setting : answer.settings) {
    std::vector<std::pair<std::string, Cell>> of = {{"delta", delta}};
    // Tables have the conditions below them; a number that leaves alone takes them along.
    const auto resting = [&, all = assumptions_of(setting.accountant.releases())](auto number) {
      number.assumptions = all;
      return number;
    };
    if (setting.noise_multiplier) of.emplace_back("noise_multiplier", *setting.noise_multiplier);
    document.add_result("epsilon_upper", resting(setting.epsilon.upper), of);
    document.add_result("epsilon_lower", resting(setting.epsilon.lower), of);
    document.add_result("epsilon_renyi", resting(setting.renyi), of);
    if (setting.clt) document.add_result("epsilon_clt", resting(*setting.clt), of);
    document.add_result("advantage", resting(setting.attacker.advantage), of);
    document.add_result("tpr_at_0.01", resting(setting.attacker.tpr_percent), of);
    document.add_result("tpr_at_0.001", resting(setting.attacker.tpr_permille), of);
    document.add_result("attack_accuracy", resting(setting.attacker.accuracy), of);
    if (setting.tuning) {
      const TuningCost& cost = *setting.tuning;
      const auto upper = [&](double value) {
        return resting(Claimed<double>{value, Claim::upper_bound});
      };
      document.add_result("epsilon_untuned", upper(cost.untuned), of);
      document.add_result("epsilon_tuned_simple", upper(cost.simple), of);
      if (cost.sharp) document.add_result("epsilon_tuned_sharp", upper(*cost.sharp), of);
      document.add_result("epsilon_all_runs", upper(cost.all_runs), of);
      document.add_result("epsilon_tuned_attained",
                          Claimed<double>{cost.attained, Claim::lower_bound}, of);
    }
  }
  if (answer.gdp) {
    const std::vector<std::pair<std::string, Cell>> of = {{"outside", answer.gdp->outside}};
    const auto all = assumptions_of(answer.settings.front().accountant.releases());
    const auto claimed = [&](double value, Claim claim) {
      return Claimed<double>{value, claim, "chords and tangents of delta", all};
    };
    document.add_result("mu_upper", claimed(answer.gdp->mu_upper, Claim::upper_bound), of);
    document.add_result("mu_lower", claimed(answer.gdp->mu_lower, Claim::lower_bound), of);
    document.add_result("mu_regret", claimed(answer.gdp->regret, Claim::upper_bound), of);
  }
  for (const BaselineRisk& risk : answer.baselines) {
    Claimed<double> success = risk.success;
    success.assumptions = assumptions_of(answer.settings.front().accountant.releases());
    document.add_result("reconstruction", success, {{"baseline", risk.baseline}});
  }
  if (answer.calibration) {
    const char* what = answer.calibration->what == Calibration::What::noise   ? "noise_multiplier"
                       : answer.calibration->what == Calibration::What::steps ? "steps"
                       : answer.calibration->what == Calibration::What::epochs
                           ? "epochs"
                           : "batches_per_epoch";
    document.add_result(what, answer.calibration->value);
  }
  for (std::size_t i = 0; i < answer.deltas.size(); ++i) {
    const std::vector<std::pair<std::string, Cell>> of = {{"epsilon", answer.question.epsilons[i]}};
    for (const bool upper : {true, false}) {
      Claimed<double> delta_bound = upper ? answer.deltas[i].upper : answer.deltas[i].lower;
      delta_bound.assumptions = assumptions_of(answer.settings.front().accountant.releases());
      document.add_result(upper ? "delta_upper" : "delta_lower", delta_bound, of);
    }
  }
}

/// "It rests on: ...": in brief one sentence, in full all.
void state_conditions(const AccountAnswer& answer, Detail detail, Document& document) {
  const PrivateReleases& releases = answer.settings.front().accountant.releases();
  std::vector<std::string> conditions = conditions_of(releases);
  if (conditions.empty()) return;
  if (detail == Detail::full) {
    for (const std::string& condition : conditions) {
      document.state(StatementKind::assumption, condition + ".");
    }
    return;
  }
  const AccountedSetting& first = answer.settings.front();
  const auto any = [&](auto&& is_so) {
    return std::any_of(releases.list.begin(), releases.list.end(), is_so) ||
           std::any_of(first.behind.begin(), first.behind.end(), is_so);
  };
  const bool poisson = any([](const PrivateRelease& release) {
    return release.sampler == Sampler::poisson && release.sample_rate < 1.0;
  });
  const bool allocated =
      any([](const PrivateRelease& release) { return release.sampler == Sampler::allocate; });
  const bool moves = first.normaliser && !first.normaliser->pairs.empty();
  document.state(
      StatementKind::assumption,
      say("every record is clipped by itself, noise is added in every step and the sum is divided "
          "by {}{}.",
          moves ? "the stated number" : "a constant",
          poisson ? "; each step samples every record independently, which shuffled batches do not"
          : allocated
              ? "; each record is in exactly one random batch of an epoch, assigned independently "
                "of all others, which shuffled batches are not"
              : ""));
  if (first.tuning) {
    for (const std::string& condition : conditions_of_tuning(runs_of(answer.question.tuning))) {
      document.state(StatementKind::assumption, condition + ".");
    }
  }
}

Abstract abstract_of(const AccountAnswer& answer) {
  const AccountedSetting& first = answer.settings.front();
  Abstract abstract;
  abstract.released = say("A model from a training run with clipped gradients and noise.");
  abstract.asked = say("How much can such a model reveal about any one record, whatever the data?");
  if (!std::isfinite(first.epsilon.upper.value)) {
    abstract.answer = say("No limit is proven for these settings.");
    abstract.advice = say("Add noise, or take fewer steps.");
    return abstract;
  }
  if (answer.settings.size() > 1) {
    const AccountedSetting& last = answer.settings.back();
    abstract.answer =
        say("At {}, {} is proven with noise multiplier {}, and {} with {}.", at(answer.delta),
            at_most(first.epsilon.upper.value), first.noise_multiplier.value(),
            at_most(last.epsilon.upper.value), last.noise_multiplier.value());
    abstract.advice =
        say("Choose the multiplier before training, by the table below; {} finds the least for an "
            "epsilon.",
            KeyName{"target_epsilon"});
    return abstract;
  }
  abstract.answer =
      say("Whatever the data, an attacker guesses correctly whether a record was used at most {} "
          "of the time ({} at {}). {}",
          percent_of(first.attacker.accuracy), at_most(first.epsilon.upper.value), at(answer.delta),
          coin_toss());
  const Verdict verdict = answer.claim ? answer.claim->verdict : Verdict::none;
  abstract.advice = verdict == Verdict::violated ? say("Correct the claim: it is refuted.")
                    : verdict == Verdict::open
                        ? say("Claim what is proven, or add noise until the claim is.")
                        : say("Publish it with the privacy statement ({} FILE.md), if "
                              "training does what is assumed below.",
                              KeyName{"statement"});
  return abstract;
}

}  // namespace

const Accountant& accountant_of(const AccountAnswer& answer) {
  if (answer.settings.empty()) {
    throw InvalidArgument("nothing was computed, so there is nothing to write", "Run it again",
                          Where::here("account"));
  }
  if (answer.settings.size() > 1) {
    throw InvalidArgument(
        fmt::format("{} noise multipliers were compared: a statement or a state is about one run",
                    answer.settings.size()),
        "Pass the one that is used", Where::here("account"));
  }
  if (!answer.settings.front().is_proven) {
    throw InvalidArgument("no epsilon is proven, so there is nothing to write",
                          "Divide by a declared constant", Where::here("account"));
  }
  return answer.settings.front().accountant;
}

Document document_of(const AccountAnswer& answer, Detail detail) {
  Document document = new_document("account", "Privacy of a training run");
  if (answer.settings.empty()) {
    close_document(document, detail, answer.stopped, "Nothing was computed.");
    return document;
  }
  const AccountedSetting& first = answer.settings.front();
  if (detail == Detail::full) document.set_abstract(abstract_of(answer));
  state_claim(answer, document);
  state_calibration(answer, document);
  if (answer.settings.size() > 1) {
    document.add(settings_table(answer));
  } else {
    document.state(StatementKind::info, guarantee_sentence(answer, first));
    document.add(methods_table(answer, first, detail));
    if (first.is_proven) document.add(attacker_table(first, detail));
  }
  if (!answer.baselines.empty()) document.add(baselines_table(answer));
  if (!answer.parts.empty()) {
    document.add(parts_table(answer));
    if (detail == Detail::full) document.add(parts_figure(answer));
  }
  if (answer.gdp && detail == Detail::full) {
    document.add(gdp_table(answer));
  } else {
    state_gdp(answer, document);
  }
  state_normaliser(answer, document);
  if (!answer.deltas.empty()) document.add(deltas_table(answer));
  state_second(answer, document);
  if (detail == Detail::full) {
    document.add(releases_table(answer));
    if (!answer.others.empty()) document.add(others_table(answer));
    if (!answer.trade_off.empty()) document.add(trade_off_figure(answer));
    if (answer.over_steps.size() > 1) document.add(steps_figure(answer));
  } else {
    state_others(answer, document);
  }
  state_conditions(answer, detail, document);
  if (!answer.delta_warning.empty()) document.state(StatementKind::warning, answer.delta_warning);
  if (!answer.booked.empty()) document.state(StatementKind::info, answer.booked);
  add_results(answer, document);
  if (detail == Detail::full && answer.settings.size() == 1) {
    document.state(
        StatementKind::info,
        say("{} FILE.md writes a privacy statement for a model card.", KeyName{"statement"}));
  }
  close_document(document, detail, answer.stopped,
                 detail == Detail::brief || answer.settings.size() > 1
                     ? say("A guarantee, if training does what is assumed above.")
                     : guarantee_sentence(answer, first));
  return document;
}

}  // namespace sfumato
