#include "sfumato/account/account_tables.hpp"

#include <fmt/format.h>

#include <cmath>

#include "sfumato/audit/attack_figures.hpp"
#include "sfumato/report/number.hpp"

namespace sfumato {
namespace {

Column epsilon_column(Delta delta) {
  return {"epsilon", fmt::format("eps({})", format_input(delta.probability()))};
}

Column rate(const char* key, const char* title) {
  return {key, title, "", NumberStyle::probability};
}

/// In brief a number stands without the note about its method: the columns say what matters of it.
Claimed<double> shown(Claimed<double> number, Detail detail) {
  if (detail == Detail::full) return number;
  return {number.value, number.claim};
}
Claimed<double> shown(const Claimed<Epsilon>& number, Detail detail) {
  return shown(map(number, [](Epsilon epsilon) { return epsilon.nats(); }), detail);
}

}  // namespace

namespace {

/// Of the best of several runs: what one costs, what the best does, and what all of them would.
Table tuning_table(const AccountAnswer& answer, const TuningCost& cost) {
  Table table(
      "tuning", "Epsilon of the best of several runs",
      {{"method", "what is released"}, epsilon_column(answer.delta), {"note", "what it is"}});
  const auto upper = [](double value) { return Claimed<double>{value, Claim::upper_bound}; };
  table.add_row({"one run, not tuned", upper(cost.untuned), "proven"});
  const bool is_sharp = cost.sharp && cost.epsilon == *cost.sharp;
  const char* quote = "proven: quote this one";
  if (cost.sharp) {
    table.add_row({"the best run, sharp bound", upper(*cost.sharp), is_sharp ? quote : "proven"});
  }
  if (cost.epsilon != cost.all_runs || cost.sharp) {
    table.add_row({"the best run, simple bound", upper(cost.simple), is_sharp ? "proven" : quote});
  }
  table.add_row({"all of as many runs", upper(cost.all_runs),
                 cost.epsilon == cost.all_runs && !cost.sharp ? quote : "proven"});
  if (cost.attained > 0.0) {
    table.add_row({"the best run, attained", Claimed<double>{cost.attained, Claim::lower_bound},
                   "some run and score reach it"});
  }
  return table;
}

}  // namespace

Table methods_table(const AccountAnswer& answer, const AccountedSetting& setting, Detail detail) {
  if (setting.tuning) return tuning_table(answer, *setting.tuning);
  Table table("methods", "Epsilon by method",
              {{"method", "method"}, epsilon_column(answer.delta), {"note", "what it is"}});
  const bool moves = setting.normaliser && !setting.normaliser->pairs.empty();
  table.add_row({moves                                              ? "unequal covariances"
                 : answer.question.method == AccountMethod::contour ? "dominating pair"
                                                                    : "dominating pair, FFT",
                 shown(setting.epsilon.upper, detail),
                 setting.is_proven ? "proven: quote this one" : "nothing is proven"});
  if (setting.epsilon.lower.value > 0.0) {
    table.add_row({"the same, lower end", shown(setting.epsilon.lower, detail),
                   "some data reveal this much"});
  }
  if (moves) return table;
  const bool is_looser = setting.renyi.value.nats() > setting.epsilon.upper.value;
  table.add_row(
      {"Renyi (RDP)", shown(setting.renyi, detail), is_looser ? "proven, looser" : "proven"});
  if (setting.clt)
    table.add_row({"Gaussian limit (GDP)", shown(*setting.clt, detail), "estimate, no bound"});
  return table;
}

Table gdp_table(const AccountAnswer& answer) {
  const GdpSummary& gdp = answer.gdp.value();
  Table table("gdp", "One number for the whole curve",
              {{"outside", "outside"},
               {"upper", "mu of Gaussian privacy"},
               {"lower", "at least"},
               rate("regret", "regret")});
  table.add_row({gdp.outside, Claimed<double>{gdp.mu_upper, Claim::upper_bound},
                 Claimed<double>{gdp.mu_lower, Claim::lower_bound},
                 Claimed<double>{gdp.regret, Claim::upper_bound}});
  return table;
}

Table baselines_table(const AccountAnswer& answer) {
  Table table("baselines", "Reconstruction and singling out: success of the best attacker",
              {rate("baseline", "without the outputs"), rate("success", "with them, at most")});
  for (const BaselineRisk& risk : answer.baselines) {
    table.add_row({risk.baseline, Claimed<double>{risk.success.value, risk.success.claim}});
  }
  return table;
}

Table parts_table(const AccountAnswer& answer) {
  Table table("parts", "Where epsilon comes from",
              {{"part", "accounted by itself"}, epsilon_column(answer.delta)});
  for (const ExplainedPart& part : answer.parts) {
    table.add_row({part.what, Claimed<double>{part.epsilon, Claim::upper_bound}});
  }
  return table;
}

Figure parts_figure(const AccountAnswer& answer) {
  Axis parts{"part"};
  Series epsilons{"epsilon", "proven epsilon", {}, {}};
  epsilons.claim = Claim::upper_bound;
  for (const ExplainedPart& part : answer.parts) {
    if (!std::isfinite(part.epsilon) || !(part.epsilon > 0.0)) continue;
    epsilons.y.push_back(static_cast<double>(parts.categories.size()));
    parts.categories.push_back(part.what);
    epsilons.x.push_back(part.epsilon);
  }
  // Without the sampler an epsilon is easily a thousand times as large.
  Figure figure("parts_figure", "Where epsilon comes from", Mark::points,
                {fmt::format("epsilon at delta = {}", format_input(answer.delta.probability())), "",
                 Scale::log},
                parts);
  figure.add(std::move(epsilons));
  figure.set_caption(
      "Each part accounted by itself: epsilons of parts do not add up, what composes is their "
      "curves.");
  return figure;
}

Table attacker_table(const AccountedSetting& setting, Detail detail) {
  Table table("attacker", "What the best attacker, who knows all other records, can reach",
              {{"measure", "attack"}, rate("value", "at most"), rate("guess", "by guessing")});
  const AttackerView& view = setting.attacker;
  table.add_row({"advantage (TPR - FPR)", shown(view.advantage, detail), 0.0});
  table.add_row({"TPR at 1 % FPR", shown(view.tpr_percent, detail), 0.01});
  table.add_row({"TPR at 0.1 % FPR", shown(view.tpr_permille, detail), 0.001});
  table.add_row({"accuracy, prior 1/2", shown(view.accuracy, detail), 0.5});
  return table;
}

Table settings_table(const AccountAnswer& answer) {
  Table table("settings", "Noise multipliers compared",
              {{"noise_multiplier", "noise multiplier"},
               epsilon_column(answer.delta),
               rate("advantage", "advantage"),
               rate("tpr", "TPR at 0.1 % FPR")});
  for (const AccountedSetting& setting : answer.settings) {
    table.add_row({setting.noise_multiplier.value(), setting.epsilon.upper,
                   setting.attacker.advantage, setting.attacker.tpr_permille});
  }
  return table;
}

Table deltas_table(const AccountAnswer& answer) {
  Table table("deltas", "Delta at other epsilons",
              {{"epsilon", "eps"}, {"upper", "delta, at most"}, {"lower", "at least"}});
  for (std::size_t i = 0; i < answer.deltas.size(); ++i) {
    table.add_row({answer.question.epsilons[i], answer.deltas[i].upper, answer.deltas[i].lower});
  }
  return table;
}

Table others_table(const AccountAnswer& answer) {
  Table table("others", "The same run as others account for it",
              {{"who", "by"},
               {"sample_rate", "sample rate"},
               {"steps", "steps"},
               epsilon_column(answer.delta),
               {"why", "difference"}});
  for (const OtherAccount& other : answer.others) {
    table.add_row({other.who, other.sample_rate, other.steps, other.epsilon, other.why});
  }
  return table;
}

Table releases_table(const AccountAnswer& answer) {
  const bool one = answer.settings.size() == 1;
  Table table("releases", one ? "What is released" : "What is released, one of these runs",
              {{"number", one ? "no." : "run"}, {"release", "release"}});
  std::int64_t run = 0;
  for (const AccountedSetting& setting : answer.settings) {
    ++run;
    std::int64_t number = 0;
    for (const PrivateRelease& release : setting.accountant.releases().list) {
      table.add_row({one ? ++number : run, describe(release)});
    }
  }
  return table;
}

Figure trade_off_figure(const AccountAnswer& answer) {
  const auto rates = [&](const char* title) {
    Axis axis{title, "", Scale::log};
    axis.from = answer.trade_off.front().fpr;
    axis.to = 1.0;
    return axis;
  };
  Figure figure("trade_off", "Best attack against this run", Mark::line,
                rates("false-positive rate"), rates("true-positive rate"));
  if (answer.claim) {
    figure.add(
        claimed_rates({answer.claim->epsilon, answer.claim->delta}, answer.trade_off.front().fpr));
  }
  Series curve{"proven", "any attack", {}, {}};
  for (const AttackRate& rate : answer.trade_off) {
    curve.x.push_back(rate.fpr);
    curve.y.push_back(rate.tpr.value);
  }
  curve.claim = Claim::upper_bound;
  figure.add(std::move(curve));
  figure.set_caption(
      answer.claim
          ? "No attack on the released model does better than the curve, whatever the data. "
            "The claim is proven if the curve stays inside the shaded region."
          : "No attack on the released model does better than this curve, whatever the "
            "data.");
  return figure;
}

Figure steps_figure(const AccountAnswer& answer) {
  Figure figure("over_steps", "Epsilon as training goes on", Mark::line, {"share of the run"},
                {fmt::format("epsilon at delta = {}", format_input(answer.delta.probability()))});
  Series curve{"epsilon", "proven epsilon", {}, {}};
  for (const EpsilonAtSteps& at : answer.over_steps) {
    if (!std::isfinite(at.epsilon)) continue;
    curve.x.push_back(at.share);
    curve.y.push_back(at.epsilon);
  }
  curve.claim = Claim::upper_bound;
  figure.add(std::move(curve));
  figure.set_caption("What a run that stops earlier is proven to reveal at most.");
  return figure;
}

}  // namespace sfumato
