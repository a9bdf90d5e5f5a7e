#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "reproduce/attacks.hpp"
#include "reproduce/interpretations.hpp"
#include "reproduce/json_value.hpp"
#include "reproduce/part.hpp"
#include "reproduce/printed_numbers.hpp"
#include "reproduce/studies.hpp"
#include "sfumato/report/csv_export.hpp"

namespace sfumato::apps {
namespace {

using Json = nlohmann::ordered_json;

/// The distance of the mean losses on D and D', with its standard error over models: replicas of the two
/// worlds share seeds, so their differences are what varies.
struct Distance {
  double value, standard_error;
};

Distance distance_of(const PolicyTrials& trials) {
  const auto& [with, without] = trials.differing_losses;
  const std::size_t count = std::min(with.size(), without.size());
  double sum = 0.0, squares = 0.0;
  for (std::size_t i = 0; i < count; ++i) sum += without[i] - with[i];
  const auto n = static_cast<double>(count);
  const double mean = sum / n;
  for (std::size_t i = 0; i < count; ++i) {
    const double gap = without[i] - with[i] - mean;
    squares += gap * gap;
  }
  return {mean, count > 1 ? std::sqrt(squares / (n - 1.0) / n) : HUGE_VAL};
}

/// One panel of the paper's figure, and the models that stand for it.
struct Panel {
  PrintedPanel printed;
  const PolicyOutcome* outcome;
  const PolicyTrials* trials;
  Distance distance;
};

/// In the order of the paper.
std::vector<Panel> panels_of(const TrainedStudy& trained,
                             const std::vector<PolicyOutcome>& outcomes) {
  std::vector<Panel> panels;
  for (const PrintedPanel& printed : kMembership) {
    for (std::size_t p = 0; p < outcomes.size(); ++p) {
      if (outcomes[p].policy != printed.policy) continue;
      const PolicyTrials& trials = trained.policies[p];
      panels.push_back({printed, &outcomes[p], &trials, distance_of(trials)});
    }
  }
  return panels;
}

std::string interval_text(const Distance& distance) {
  return fmt::format("{:.2g} .. {:.2g}", distance.value - 1.96 * distance.standard_error,
                     distance.value + 1.96 * distance.standard_error);
}

/// "Worst loss" is that of a model's mean in the literal interpretation, that of a record in the closest one.
void add_numbers(std::vector<ComparedNumber>& numbers, const Panel& literal, const Panel& closest) {
  const char* models = "over models that did not diverge";
  const auto distance = [&](const Panel& panel) {
    const bool none = panel.trials->differing_losses[0].empty();
    return none ? std::nullopt
                : std::optional(TrainedNumber{{panel.distance.value, Claim::estimate, models},
                                              interval_text(panel.distance)});
  };
  const auto loss = [&](const Panel& panel, double value, const std::string& words) {
    const bool none = panel.trials->differing_losses[0].empty();
    return none ? std::nullopt
                : std::optional(TrainedNumber{{value, Claim::estimate, models}, words});
  };
  numbers.push_back({literal.printed.policy, "distance of the means", literal.printed.distance,
                     distance(literal), distance(closest)});
  numbers.push_back({literal.printed.policy, "worst loss", literal.printed.worst_loss,
                     loss(literal, literal.trials->worst_loss,
                          fmt::format("a record's: {:.3g}", literal.trials->largest_loss)),
                     loss(closest, closest.trials->largest_loss,
                          fmt::format("a mean: {:.3g}", closest.trials->worst_loss))});
}

/// The panel's figure, and its entries in the summary.
void add_panel(PartResult& result, const Panel& panel, const Panel& closest,
               const std::vector<double>& epsilons) {
  const auto& [printed, outcome, trials, distance] = panel;
  result.blocks.emplace_back(
      losses_figure(fmt::format("membership_{}", printed.policy),
                    fmt::format("Loss of the differing record, {}", printed.policy), *trials));
  result.paper[printed.policy] = {{"mean_distance", printed.distance},
                                  {"worst_loss", printed.worst_loss}};
  Json ours = outcome_json(*outcome, epsilons);
  ours["mean_distance"] = json_number(distance.value);
  ours["largest_loss_of_a_record"] = json_number(trials->largest_loss);
  result.ours[printed.policy] = std::move(ours);
  result.ours["closest"][printed.policy] = {
      {"mean_distance", json_number(closest.distance.value)},
      {"worst_loss", json_number(closest.trials->largest_loss)}};
  Json interval = interval_json(*outcome, epsilons);
  interval["mean_distance"] = json_interval(distance.value - 1.96 * distance.standard_error,
                                            distance.value + 1.96 * distance.standard_error);
  result.interval[printed.policy] = std::move(interval);
}

std::vector<Finding> findings_of(const Panel& anisotropic, const Panel& isotropic) {
  std::vector<Finding> findings;
  const Distance &ours = anisotropic.distance, &other = isotropic.distance;
  const double gap = std::fabs(std::fabs(ours.value) - std::fabs(other.value));
  const bool alike = gap <= 1.96 * std::hypot(ours.standard_error, other.standard_error);
  findings.push_back(
      {"similar_distance", "mean losses on d' differ alike with both noises",
       alike ? PaperVerdict::depends : PaperVerdict::does_not_hold,
       alike ? "not refuted" : "our runs",
       fmt::format(
           "Anisotropic {:.3g} +- {:.2g}, isotropic {:.3g} +- {:.2g} (standard errors); the "
           "paper has {:g} and {:g}.",
           ours.value, ours.standard_error, other.value, other.standard_error,
           anisotropic.printed.distance, isotropic.printed.distance)});
  const double largest = anisotropic.trials->largest_loss;
  const double largest_other = isotropic.trials->largest_loss;
  findings.push_back(
      {"lower_worst_loss", "anisotropic noise has the lower worst loss",
       largest < largest_other ? PaperVerdict::holds : PaperVerdict::does_not_hold, "our runs",
       fmt::format(
           "Largest loss of a training record {:.3g} against {:.3g}, largest mean loss {:.3g} "
           "against {:.3g}; the paper has {:g} against {:g}.",
           largest, largest_other, anisotropic.outcome->worst_loss, isotropic.outcome->worst_loss,
           anisotropic.printed.worst_loss, isotropic.printed.worst_loss)});
  const AdvantageEstimate& with = anisotropic.outcome->advantage;
  const AdvantageEstimate& without = isotropic.outcome->advantage;
  const bool overlap = with.lower <= without.upper && without.lower <= with.upper;
  findings.push_back(
      {"equally_distinguishable", "both noises leave models as distinguishable",
       overlap ? PaperVerdict::depends : PaperVerdict::does_not_hold,
       overlap ? "not refuted" : "our runs",
       fmt::format("Advantage of a threshold on the loss: anisotropic {:.3g} ({:.3g} .. {:.3g}), "
                   "isotropic {:.3g} ({:.3g} .. {:.3g}). Equal means of losses would not show it.",
                   with.value, with.lower, with.upper, without.value, without.lower,
                   without.upper)});
  return findings;
}

}  // namespace

std::optional<PartResult> reproduce_membership(const PartContext& context) {
  StudyRequest request{"membership", "membership"};
  if (context.scale == RunScale::quick) request.settings = {"audit.replicas=20"};
  const auto trained = train_study(context, request);
  if (!trained) return std::nullopt;
  const std::vector<PolicyOutcome> outcomes = outcomes_of(*trained);
  const std::vector<Panel> panels = panels_of(*trained, outcomes);
  const auto closest = train_closest(context, request);
  if (!closest) return std::nullopt;
  const std::vector<PolicyOutcome> closest_outcomes = outcomes_of(*closest);
  const std::vector<Panel> closest_panels = panels_of(*closest, closest_outcomes);

  PartResult result;
  result.interval = Json::object();
  std::vector<ComparedNumber> numbers;
  for (std::size_t p = 0; p < panels.size(); ++p) {
    add_numbers(numbers, panels[p], closest_panels.at(p));
    add_panel(result, panels[p], closest_panels.at(p), trained->study.audit.epsilons);
  }
  const Table table = compared_table(
      "membership_paper", "The paper's figure in numbers, and two interpretations of it", numbers);
  result.blocks.insert(result.blocks.begin(),
                       {table, Statement{StatementKind::info, closest_text(kClosestMembership)}});
  result.blocks.emplace_back(
      attack_table("membership_attack", "A threshold on the differing record's loss", outcomes));
  result.blocks.emplace_back(
      proof_table("membership_proof", outcomes, trained->study.audit.epsilons.front()));
  result.blocks.emplace_back(training_curves("membership_training", "Training", *trained));
  result.files.push_back({"membership_paper.csv", to_csv(table)});
  result.findings = findings_of(panels.at(0), panels.at(1));
  result.paper["runs"] = 50;
  result.size = size_json(trained->study);
  result.size["closest"] = size_json(closest->study);
  result.reduced = is_reduced(trained->study, "membership");
  return result;
}

}  // namespace sfumato::apps
