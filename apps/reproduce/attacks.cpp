#include "reproduce/attacks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>

#include "lab/audit/ledger_tables.hpp"
#include "reproduce/confidences.hpp"
#include "reproduce/json_value.hpp"
#include "sfumato/audit/roc.hpp"
#include "sfumato/audit/score_audit.hpp"
#include "sfumato/lab/audit/ledger_audit.hpp"

namespace sfumato::apps {

using namespace lab;
namespace {

using Json = nlohmann::ordered_json;

constexpr double kDelta = 1e-5;
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
/// The tails of a sum of independent trials with unequal rates are, from one count beyond the mean on, no
/// heavier than those of a binomial with the mean rate [Hoeffding1956]: Clopper-Pearson intervals hold for
/// the mean rate but for a single success or a single failure, which prove nothing where both worlds have
/// the same number of models, as here.
constexpr const char* kPooled =
    "counts over all pairs: about the average of these pairs, so about the worst";
constexpr const char* kEveryModelDiverged = "every model diverged";

double mean_of(const std::vector<double>& values) {
  if (values.empty()) return kNaN;
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

Claimed<double> estimate(double value, const char* method) {
  return {value, Claim::estimate, method};
}

Cell cell(double value, const char* method) {
  return std::isnan(value) ? Cell(Empty{kEveryModelDiverged}) : Cell(estimate(value, method));
}

std::string interval_text(double lower, double upper) {
  return fmt::format("{:.3g} .. {:.3g}", lower, upper);
}

/// `audits` share the confidence of the bounds.
PolicyOutcome outcome_of(const Study& study, const NoiseSpec& noise, const PolicyTrials& trials,
                         const std::vector<ConfidencePair>& confidences, std::size_t audits) {
  PolicyOutcome outcome;
  outcome.policy = noise.name;
  outcome.diverged = trials.diverged;
  if (!confidences.empty()) {
    for (const double epsilon : study.audit.epsilons) {
      outcome.statistics.push_back(paper_statistic(confidences, Epsilon(epsilon)));
      outcome.intervals.push_back(
          statistic_intervals(confidences, Epsilon(epsilon), kConfidence, study.train.seed));
    }
  }
  outcome.worst_loss = trials.training_losses[0].empty() ? kNaN : trials.worst_loss;
  outcome.worst_record_loss = trials.training_losses[0].empty() ? kNaN : trials.largest_loss;
  outcome.least_loss = kNaN;
  for (std::size_t w = 0; w < 2; ++w) {
    outcome.mean_loss[w] = mean_of(trials.training_losses[w]);
    outcome.differing_loss[w] = mean_of(trials.differing_losses[w]);
    for (const double loss : trials.training_losses[w]) {
      outcome.least_loss = std::fmin(outcome.least_loss, loss);
    }
  }

  const ScoreSample all = pooled(trials.scores);
  outcome.models = all.with.size();
  const Roc roc(all);
  outcome.auc = roc.auc();
  outcome.auc_interval = auc_interval(roc.auc(), roc.members(), roc.non_members(), kConfidence);
  double within = 0.0;
  for (const ScoreSample& pair : trials.scores) within += Roc(pair).auc();
  outcome.auc_within = within / static_cast<double>(trials.scores.size());
  if (outcome.models < 2) return outcome;
  outcome.advantage = cross_fitted_advantage(all, kConfidence, study.train.seed);
  AuditOptions options;
  options.confidence = kConfidence;
  options.strategy = ThresholdStrategy::ranks;
  options.delta = Delta(kDelta);
  options.audits = audits;
  const Audit audit = audit_scores(all, options);
  outcome.pooled_epsilon = audit.epsilon(Delta(kDelta));
  outcome.pooled_maximum = audit.maximum_epsilon(Delta(kDelta));
  outcome.pooled_delta = audit.delta(Epsilon(study.audit.epsilons.front()));
  if (trials.scores.size() > 1) {
    outcome.pooled_epsilon.assumptions.emplace_back(kPooled);
    outcome.pooled_delta.assumptions.emplace_back(kPooled);
  }
  return outcome;
}

/// What `sfumato audit` says of the same ledger.
void add_audit(const TrainedStudy& trained, std::vector<PolicyOutcome>& outcomes) {
  const auto fewest = [](const PolicyTrials& policy) {
    std::size_t models = std::numeric_limits<std::size_t>::max();
    for (const ScoreSample& pair : policy.scores) models = std::min(models, pair.with.size());
    return models;
  };
  for (const PolicyTrials& policy : trained.policies) {
    if (policy.scores.empty() || fewest(policy) < 2) return;  // too few for any audit
  }
  LedgerAuditOptions options;
  options.score = trained.score;
  const LedgerAudit found = audit(Ledger::read(trained.ledger), options);
  for (std::size_t p = 0; p < outcomes.size(); ++p) {
    const Audit& shown = std::get<PairedModels>(found.policies[p].models).audit;
    outcomes[p].epsilon = shown.epsilon(Delta(found.deltas.front()));
    outcomes[p].maximum = shown.maximum_epsilon(Delta(found.deltas.front()));
    outcomes[p].delta = shown.delta(Epsilon(found.epsilons.front()));
  }
}

}  // namespace

std::vector<PolicyOutcome> outcomes_of(const TrainedStudy& trained) {
  const auto confidences = confidences_by_policy(Ledger::read(trained.ledger), trained.study);
  std::vector<PolicyOutcome> outcomes;
  for (std::size_t p = 0; p < trained.policies.size(); ++p) {
    outcomes.push_back(outcome_of(trained.study, trained.study.noise[p], trained.policies[p],
                                  confidences[p], trained.policies.size()));
  }
  add_audit(trained, outcomes);
  return outcomes;
}

Table statistic_table(const std::string& key, const std::string& title,
                      const std::vector<PolicyOutcome>& outcomes,
                      const std::vector<double>& epsilons) {
  Table table(key, title,
              {{"policy", "noise"},
               {"epsilon", "eps"},
               {"delta", "statistic"},
               {"delta_interval", "95 %"},
               {"delta_mean", "mean of pairs"},
               {"worst_loss", "worst mean loss"},
               {"worst_record_loss", "worst record"},
               {"mean_loss", "mean loss"},
               {"diverged", "diverged"}},
              2);
  for (const PolicyOutcome& o : outcomes) {
    for (std::size_t e = 0; e < epsilons.size(); ++e) {
      const bool none = o.statistics.empty();
      table.add_row(
          {o.policy, epsilons[e],
           none ? Cell(Empty{kEveryModelDiverged}) : Cell(o.statistics[e].maximum),
           none ? Cell(Empty{})
                : Cell(interval_text(o.intervals[e].maximum.lower, o.intervals[e].maximum.upper)),
           none ? Cell(Empty{}) : Cell(o.statistics[e].mean),
           cell(o.worst_loss, "largest over models of the mean loss on D"),
           cell(o.worst_record_loss, "largest over models and their records"),
           cell(o.mean_loss[0], "mean over the models of D"), o.diverged});
    }
  }
  return table;
}

Table attack_table(const std::string& key, const std::string& title,
                   const std::vector<PolicyOutcome>& outcomes) {
  Table table(key, title,
              {{"policy", "noise"},
               {"models", "models"},
               {"loss_with", "loss, D"},
               {"loss_without", "loss, D'"},
               {"advantage", "advantage"},
               {"advantage_interval", "95 %"},
               {"auc", "AUC"},
               {"auc_interval", "95 %"},
               {"auc_within", "AUC in pair"}});
  for (const PolicyOutcome& o : outcomes) {
    table.add_row({o.policy, o.models,
                   cell(o.differing_loss[0], "differing record, mean over models"),
                   cell(o.differing_loss[1], "differing record, mean over models"),
                   estimate(o.advantage.value,
                            "threshold on the loss, chosen on the other half of the models"),
                   interval_text(o.advantage.lower, o.advantage.upper),
                   estimate(o.auc, "threshold on the loss, all pairs"),
                   interval_text(o.auc_interval.lower, o.auc_interval.upper),
                   estimate(o.auc_within, "mean of the AUC of each pair")});
  }
  return table;
}

Table proof_table(const std::string& key, const std::vector<PolicyOutcome>& outcomes,
                  double epsilon) {
  Table table(key, "What this attack proves",
              {{"policy", "noise"},
               {"models", "models"},
               {"epsilon", "eps at delta = 1e-5"},
               {"maximum", "maximum"},
               {"delta", fmt::format("delta at eps = {:g}", epsilon)},
               {"pooled_epsilon", "eps, pairs pooled"},
               {"pooled_delta", "delta, pairs pooled"}});
  constexpr const char* kTooFew = "an audit needs two models of each pair and data set";
  for (const PolicyOutcome& o : outcomes) {
    table.add_row(
        {o.policy, o.models, o.epsilon ? Cell(*o.epsilon) : Cell(Empty{kTooFew}),
         o.maximum ? Cell(Claimed<double>{*o.maximum, Claim::exact,
                                          "maximum auditable epsilon: the largest that this many "
                                          "models can certify"})
                   : Cell(Empty{}),
         o.delta ? Cell(*o.delta) : Cell(Empty{}), o.pooled_epsilon, o.pooled_delta});
  }
  return table;
}

Json outcome_json(const PolicyOutcome& o, const std::vector<double>& epsilons) {
  Json json;
  for (std::size_t e = 0; e < epsilons.size(); ++e) {
    const std::string at = fmt::format("delta_at_{:g}", epsilons[e]);
    json[at] = o.statistics.empty() ? Json(nullptr) : Json(o.statistics[e].maximum.value);
    json[at + "_mean_of_pairs"] =
        o.statistics.empty() ? Json(nullptr) : Json(o.statistics[e].mean.value);
  }
  json["worst_loss"] = json_number(o.worst_loss);
  json["worst_record_loss"] = json_number(o.worst_record_loss);
  json["mean_loss"] = json_number(o.mean_loss[0]);
  json["diverged"] = o.diverged;
  json["models_per_world"] = o.models;
  json["attack"] = {{"differing_loss_D", json_number(o.differing_loss[0])},
                    {"differing_loss_D'", json_number(o.differing_loss[1])},
                    {"advantage", o.advantage.value},
                    {"auc", o.auc},
                    {"auc_within_pairs", o.auc_within},
                    {"pooled_epsilon_lower_bound", o.pooled_epsilon.value.nats()},
                    {"pooled_epsilon_maximum", json_number(o.pooled_maximum)},
                    {"pooled_delta_lower_bound", o.pooled_delta.value.probability()}};
  json["audit"] = {{"epsilon_lower", o.epsilon ? Json(o.epsilon->value.nats()) : Json(nullptr)},
                   {"maximum", o.maximum ? json_number(*o.maximum) : Json(nullptr)},
                   {"delta_lower", o.delta ? Json(o.delta->value.probability()) : Json(nullptr)}};
  return json;
}

Json interval_json(const PolicyOutcome& o, const std::vector<double>& epsilons) {
  Json json;
  for (std::size_t e = 0; e < epsilons.size() && !o.intervals.empty(); ++e) {
    const std::string at = fmt::format("delta_at_{:g}", epsilons[e]);
    json[at] = json_interval(o.intervals[e].maximum.lower, o.intervals[e].maximum.upper);
    json[at + "_mean_of_pairs"] =
        json_interval(o.intervals[e].mean.lower, o.intervals[e].mean.upper);
  }
  json["worst_loss"] = json_interval(o.least_loss, o.worst_loss);
  json["attack"] = {{"advantage", json_interval(o.advantage.lower, o.advantage.upper)},
                    {"auc", json_interval(o.auc_interval.lower, o.auc_interval.upper)}};
  json["method"] =
      "95 %: statistic by bootstrap over pairs and replicas, advantage and AUC by score intervals; "
      "worst_loss: least and largest mean loss of a model";
  return json;
}

Figure losses_figure(const std::string& key, const std::string& title, const PolicyTrials& trials) {
  return loss_histogram(key, title, {trials.differing_losses[0], trials.differing_losses[1]});
}

Figure training_curves(const std::string& key, const std::string& title,
                       const TrainedStudy& trained) {
  constexpr std::size_t kModels = 20;
  struct Sum {
    std::vector<double> losses;
    std::size_t models = 0;
  };
  std::map<std::uint32_t, Sum> sums;
  Ledger::read(trained.ledger).for_each([&](const TrialResult& trial) {
    Sum& sum = sums[trial.key.policy];
    if (sum.models == kModels || trial.status != TrialStatus::ok) return;
    for (const NamedSeries& series : trial.worlds.front().series) {
      if (series.name != "batch_losses") continue;
      sum.losses.resize(series.values.size(), 0.0);
      for (std::size_t i = 0; i < series.values.size(); ++i) {
        sum.losses[i] += static_cast<double>(series.values[i]);
      }
      ++sum.models;
    }
  });
  Figure figure(key, title, Mark::line, Axis{"step"},
                Axis{"mean loss of the batch", "nats", Scale::log});
  for (const auto& [policy, sum] : sums) {
    if (sum.models == 0) continue;
    Series series{trained.study.noise.at(policy).name,
                  trained.study.noise.at(policy).name,
                  {},
                  {},
                  {},
                  Claim::estimate,
                  fmt::format("mean over {} models of D, every {} steps", sum.models,
                              trained.study.train.log_every)};
    for (std::size_t i = 0; i < sum.losses.size(); ++i) {
      series.x.push_back(static_cast<double>(i * trained.study.train.log_every));
      series.y.push_back(sum.losses[i] / static_cast<double>(sum.models));
    }
    figure.add(std::move(series));
  }
  return figure;
}

Json size_json(const Study& study) {
  return {{"data", study.data.set},
          {"records", study.data.records},
          {"model", study.model.preset},
          {"iterations", study.train.iterations},
          {"batch_size", study.train.batch_size},
          {"learning_rate", study.train.learning_rate},
          {"pairs", study.audit.pairs},
          {"replicas", study.audit.replicas}};
}

bool is_reduced(const Study& study, const std::string& name) {
  const Study whole = parse_study(embedded_study(name), name);
  return study.train.iterations < whole.train.iterations || study.audit.pairs < whole.audit.pairs ||
         study.audit.replicas < whole.audit.replicas || study.data.records < whole.data.records;
}

}  // namespace sfumato::apps
