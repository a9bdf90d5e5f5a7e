#include <fmt/format.h>

#include <array>
#include <cmath>
#include <utility>

#include "reproduce/attacks.hpp"
#include "reproduce/interpretations.hpp"
#include "reproduce/json_value.hpp"
#include "reproduce/part.hpp"
#include "reproduce/path_kl_summary.hpp"
#include "reproduce/printed_numbers.hpp"
#include "reproduce/studies.hpp"
#include "sfumato/report/csv_export.hpp"
#include "sfumato/report/number.hpp"

namespace sfumato::apps {
namespace {

using Json = nlohmann::ordered_json;

struct Setting {
  const char* key;    ///< of the part
  const char* study;  ///< studies/NAME.toml
  ClosestInterpretation closest;
  PrintedNoises printed;
  std::vector<std::string> quick;  ///< settings of the quick scale
};

const Setting kS1 = {"table2.s1",
                     "table2_s1",
                     kClosestS1,
                     kTable2S1,
                     {"audit.pairs=2", "audit.replicas=4", "train.iterations=5000"}};
const Setting kS2 = {"table2.s2",
                     "table2_s2",
                     kClosestS2,
                     kTable2S2,
                     {"audit.pairs=2", "audit.replicas=3", "train.iterations=2000"}};
const Setting kS3 = {
    "table2.s3",
    "table2_s3",
    kClosestS3,
    kTable2S3,
    {"audit.pairs=2", "audit.replicas=3", "train.iterations=2000", "data.test_records=1000"}};

std::string block_key(const Setting& setting, const std::string& name) {
  std::string key = setting.key;
  key[key.find('.')] = '_';
  return key + "_" + name;
}

const PolicyOutcome& outcome(const std::vector<PolicyOutcome>& outcomes, std::string_view policy) {
  for (const PolicyOutcome& o : outcomes) {
    if (o.policy == policy) return o;
  }
  throw InternalError("the study lacks a noise of Table 2");
}

std::optional<TrainedNumber> delta_of(const PolicyOutcome& o) {
  if (o.statistics.empty()) return std::nullopt;
  const ProbabilityInterval& interval = o.intervals.front().maximum;
  return TrainedNumber{o.statistics.front().maximum,
                       fmt::format("{:.3g} .. {:.3g}", interval.lower, interval.upper)};
}

std::optional<TrainedNumber> loss_of(const PolicyOutcome& o) {
  if (o.statistics.empty()) return std::nullopt;
  return TrainedNumber{{o.worst_loss, Claim::estimate, "largest over models of the mean loss on D"},
                       fmt::format("a record's: {:.3g}", o.worst_record_loss)};
}

/// The paper, its text taken literally, and the closest interpretation.
Table comparison_table(const Setting& setting, const std::vector<PolicyOutcome>& literal,
                       const std::vector<PolicyOutcome>& closest) {
  std::vector<ComparedNumber> numbers;
  for (std::size_t p = 0; p < 2; ++p) {
    const char* policy = p == 0 ? kIsotropicPerLayer : kAnisotropic;
    const PolicyOutcome &ours = outcome(literal, policy), &other = outcome(closest, policy);
    numbers.push_back({policy, "delta", setting.printed[p].delta, delta_of(ours), delta_of(other)});
    numbers.push_back(
        {policy, "worst loss", setting.printed[p].worst_loss, loss_of(ours), loss_of(other)});
  }
  return compared_table(block_key(setting, "paper"),
                        "The paper's table at eps = 0.1, and two interpretations of it", numbers);
}

/// The two printed numbers of each noise as the models of the closest interpretation have them.
void add_closest(PartResult& result, const std::vector<PolicyOutcome>& outcomes) {
  for (const PolicyOutcome& o : outcomes) {
    const bool none = o.statistics.empty();
    result.ours["closest"][o.policy] = {
        {"delta_at_0.1", none ? Json(nullptr) : Json(o.statistics.front().maximum.value)},
        {"worst_loss", json_number(o.worst_loss)}};
    if (none) continue;
    const ProbabilityInterval& interval = o.intervals.front().maximum;
    result.interval["closest"][o.policy] = {
        {"delta_at_0.1", json_interval(interval.lower, interval.upper)},
        {"worst_loss", json_interval(o.least_loss, o.worst_loss)}};
  }
}

bool within_factor(double ours, double theirs, double factor) {
  return ours <= theirs * factor && ours >= theirs / factor;
}

std::vector<Finding> findings(const Setting& setting, const std::vector<PolicyOutcome>& outcomes,
                              const std::vector<PathKlSummary>& summaries) {
  const PolicyOutcome& isotropic = outcome(outcomes, kIsotropicPerLayer);
  const PolicyOutcome& anisotropic = outcome(outcomes, kAnisotropic);
  std::vector<Finding> findings;
  const auto add = [&](const char* key, const char* statement, bool holds, std::string evidence) {
    findings.push_back({key, statement, holds ? PaperVerdict::holds : PaperVerdict::does_not_hold,
                        "our runs", std::move(evidence)});
  };
  add("lower_loss", "anisotropic noise keeps a lower loss",
      anisotropic.worst_loss < isotropic.worst_loss,
      fmt::format(
          "Worst loss {:.3g} against {:.3g} with isotropic noise per layer ({} of {} models "
          "diverged).",
          anisotropic.worst_loss, isotropic.worst_loss, isotropic.diverged, isotropic.models));
  if (!isotropic.statistics.empty() && !anisotropic.statistics.empty()) {
    const double ours[] = {isotropic.statistics.front().maximum.value,
                           anisotropic.statistics.front().maximum.value};
    std::size_t agree = 0;
    for (std::size_t p = 0; p < 2; ++p) {
      if (within_factor(ours[p], setting.printed[p].delta, 2.0)) ++agree;
    }
    findings.push_back({"delta_values", "the estimated deltas, within a factor of 2",
                        verdict_of(agree, 2), fmt::format("{} of 2 noises", agree),
                        fmt::format("{:.3g} and {:.3g}; the paper has {:g} and {:g}.", ours[0],
                                    ours[1], setting.printed[0].delta, setting.printed[1].delta)});
    const bool similar_there =
        within_factor(setting.printed[0].delta, setting.printed[1].delta, 2.0);
    add("similar_delta",
        similar_there ? "delta is similar for both noises"
                      : "anisotropic noise has a tenth of the delta",
        similar_there ? within_factor(ours[0], ours[1], 2.0) : ours[1] <= 0.1 * ours[0],
        fmt::format("{:.3g} isotropic per layer, {:.3g} anisotropic for the worst pair; {:.3g} and "
                    "{:.3g} on average over pairs.",
                    ours[0], ours[1], isotropic.statistics.front().mean.value,
                    anisotropic.statistics.front().mean.value));
    std::size_t refuted = 0;
    for (const PolicyOutcome* o : {&isotropic, &anisotropic}) {
      if (o->pooled_delta.value.probability() > o->statistics.front().maximum.value) ++refuted;
    }
    findings.push_back(
        {"measures_delta", "the statistic measures delta",
         refuted == 2 ? PaperVerdict::does_not_hold : PaperVerdict::depends,
         refuted == 0 ? fmt::format("open: {} models each", isotropic.models)
                      : fmt::format("refuted: {} of 2 noises", refuted),
         fmt::format(
             "At eps = 0.1 a threshold on the record's loss proves delta >= {} (isotropic) and >= "
             "{} (anisotropic), both together at 95 %, {} models per data set; its "
             "AUC is {:.3g} and {:.3g}, {:.3g} and {:.3g} for who knows how hard the record "
             "is.",
             format_number(isotropic.pooled_delta.value.probability(), Rounding::down, 3),
             format_number(anisotropic.pooled_delta.value.probability(), Rounding::down, 3),
             isotropic.models, isotropic.auc, anisotropic.auc, isotropic.auc_within,
             anisotropic.auc_within)});
  }
  std::size_t finite = 0, total = 0;
  std::string example;
  for (const PathKlSummary& o : summaries) {
    total += o.models;
    finite += o.models - o.infinite;
    if (example.empty() && o.infinite != 0) {
      example = fmt::format(" First for {}: {}.", o.policy, o.example);
    }
  }
  if (total != 0) {
    findings.push_back(
        {"steps_are_private", "noise scaled by gradients hides every step",
         verdict_of(finite, total), fmt::format("{} of {} models", finite, total),
         "A step is infinite where a parameter has noise on D or D' only." + example});
  }
  return findings;
}

Json paper_json(const Setting& setting) {
  Json json = {{"table", 2}, {"epsilon", 0.1}, {"iterations", 10'000}, {"T1", 10}, {"T2", 10}};
  for (std::size_t p = 0; p < 2; ++p) {
    json[p == 0 ? kIsotropicPerLayer : kAnisotropic] = {
        {"delta_at_0.1", setting.printed[p].delta}, {"worst_loss", setting.printed[p].worst_loss}};
  }
  return json;
}

PartResult result_of(const Setting& setting, const TrainedStudy& trained,
                     const std::vector<PolicyOutcome>& outcomes, const TrainedStudy& closest) {
  const std::vector<PolicyOutcome> closest_outcomes = outcomes_of(closest);
  const std::vector<double>& epsilons = trained.study.audit.epsilons;
  const std::vector<PathKlSummary> summaries = path_kl_summaries(trained);
  PartResult result;
  const Table comparison = comparison_table(setting, outcomes, closest_outcomes);
  result.blocks.emplace_back(comparison);
  result.blocks.emplace_back(Statement{StatementKind::info, closest_text(setting.closest)});
  result.blocks.emplace_back(statistic_table(block_key(setting, "statistic"),
                                             "The paper's statistic (no bound on delta) and losses",
                                             outcomes, epsilons));
  result.blocks.emplace_back(attack_table(
      block_key(setting, "attack"),
      "The same models attacked: a threshold on the differing record's loss", outcomes));
  result.blocks.emplace_back(proof_table(block_key(setting, "proof"), outcomes, epsilons.front()));
  if (!summaries.empty()) {
    result.blocks.emplace_back(path_kl_table(block_key(setting, "path_kl"), summaries));
  }
  for (std::size_t p = 0; p < trained.policies.size(); ++p) {
    const std::string& policy = trained.study.noise[p].name;
    result.blocks.emplace_back(losses_figure(block_key(setting, "losses_" + policy),
                                             "Loss of the differing record, " + policy,
                                             trained.policies[p]));
  }
  result.blocks.emplace_back(training_curves(block_key(setting, "training"), "Training", trained));
  result.files.push_back({fmt::format("{}.csv", block_key(setting, "paper")), to_csv(comparison)});
  result.findings = findings(setting, outcomes, summaries);
  result.paper = paper_json(setting);
  result.interval = Json::object();
  for (const PolicyOutcome& o : outcomes) {
    result.ours[o.policy] = outcome_json(o, epsilons);
    result.interval[o.policy] = interval_json(o, epsilons);
  }
  if (!summaries.empty()) result.ours["path_kl"] = path_kl_json(summaries);
  add_closest(result, closest_outcomes);
  result.size = size_json(trained.study);
  result.size["closest"] = size_json(closest.study);
  result.reduced = is_reduced(trained.study, setting.study);
  return result;
}

std::optional<PartResult> reproduce_setting(const PartContext& context, const Setting& setting) {
  StudyRequest request{setting.study, setting.key};
  if (context.scale == RunScale::quick) request.settings = setting.quick;
  const auto trained = train_study(context, request);
  if (!trained) return std::nullopt;
  const auto closest = train_closest(context, request);
  if (!closest) return std::nullopt;
  return result_of(setting, *trained, outcomes_of(*trained), *closest);
}

}  // namespace

std::optional<PartResult> reproduce_table2_s1(const PartContext& context) {
  return reproduce_setting(context, kS1);
}

std::optional<PartResult> reproduce_table2_s2(const PartContext& context) {
  return reproduce_setting(context, kS2);
}

std::optional<PartResult> reproduce_table2_s3(const PartContext& context) {
  return reproduce_setting(context, kS3);
}

}  // namespace sfumato::apps
