#include <fmt/format.h>

#include <array>
#include <cmath>
#include <map>

#include "reproduce/attacks.hpp"
#include "reproduce/batch_ridge.hpp"
#include "reproduce/interpretations.hpp"
#include "reproduce/json_value.hpp"
#include "reproduce/part.hpp"
#include "reproduce/printed_numbers.hpp"
#include "reproduce/studies.hpp"
#include "sfumato/lab/ledger/ledger.hpp"
#include "sfumato/report/csv_export.hpp"

namespace sfumato::apps {

using namespace lab;
namespace {

using Json = nlohmann::ordered_json;

constexpr auto& kEpsilons = kTable1Epsilons;

constexpr Eigen::Index kRidgeRows = 200;
constexpr double kRidge = 0.01;
constexpr double kLearningRate = 0.1;

/// Numbers that describe models (Spec §10), mean and standard error over the models of D.
struct Described {
  double mean = 0.0, standard_error = 0.0;
};
constexpr std::array kMeasures = {std::pair{"hessian_trace", "tr H"},
                                  std::pair{"hessian_largest", "largest eigenvalue of H"},
                                  std::pair{"mixed_norm", "|mixed derivative| at the record"},
                                  std::pair{"gradient_difference", "|grad f(D) - grad f(D')|"},
                                  std::pair{"covariance_trace", "trace of minibatch covariance"},
                                  std::pair{"covariance_largest", "its largest eigenvalue"}};

std::map<std::string, Described> describe(const TrainedStudy& trained) {
  std::map<std::string, std::vector<double>> values;
  Ledger::read(trained.ledger).for_each([&](const TrialResult& trial) {
    if (trial.status != TrialStatus::ok) return;
    for (const NamedScore& score : trial.worlds.front().scores) {
      values[score.name].push_back(score.value);
    }
  });
  std::map<std::string, Described> described;
  for (const auto& [name, of] : values) {
    const auto n = static_cast<double>(of.size());
    double sum = 0.0, squares = 0.0;
    for (const double value : of) sum += value;
    for (const double value : of) squares += (value - sum / n) * (value - sum / n);
    described[name] = {sum / n, of.size() > 1 ? std::sqrt(squares / (n - 1.0) / n) : HUGE_VAL};
  }
  return described;
}

/// One batch size: what was trained and what it shows.
struct BatchOutcome {
  PrintedBatch setting;
  TrainedStudy trained;
  PolicyOutcome outcome;
  std::map<std::string, Described> measures;
  Study closest_study;
  PolicyOutcome closest;  ///< of the closest interpretation
};

/// The paper, its text taken literally, and the closest interpretation.
Table comparison_table(const std::vector<BatchOutcome>& batches) {
  Table table("table1_paper",
              "SGD without added noise: the paper's table, and two interpretations of it",
              {{"epsilon", "eps"},
               {"batch", "batch"},
               {"paper_delta", "paper: delta"},
               {"delta", "literal"},
               {"interval", "95 %"},
               {"closest", "closest interpretation"},
               {"closest_interval", "95 %"}},
              2);
  for (std::size_t e = 0; e < kEpsilons.size(); ++e) {
    for (const BatchOutcome& of : batches) {
      const auto number = [e](const PolicyOutcome& outcome) {
        const ProbabilityInterval& interval = outcome.intervals.at(e).maximum;
        return TrainedNumber{outcome.statistics.at(e).maximum,
                             fmt::format("{:.3g} .. {:.3g}", interval.lower, interval.upper)};
      };
      table.add_row({kEpsilons[e], of.setting.batch, of.setting.printed[e],
                     value_cell(number(of.outcome)), interval_cell(number(of.outcome)),
                     value_cell(number(of.closest)), interval_cell(number(of.closest))});
    }
  }
  return table;
}

Table flatness_table(const std::vector<BatchOutcome>& batches) {
  Table table("table1_flatness", "Flatness of the same models (of D; descriptive)",
              {{"measure", "measure"},
               {"b500", "batch 500"},
               {"se500", "std. error"},
               {"b1000", "batch 1000"},
               {"se1000", "std. error"}});
  for (const auto& [key, title] : kMeasures) {
    std::vector<Cell> row = {title};
    for (const BatchOutcome& b : batches) {
      const auto found = b.measures.find(key);
      if (found == b.measures.end()) {
        row.insert(row.end(), {Empty{}, Empty{}});
        continue;
      }
      row.emplace_back(Claimed<double>{found->second.mean, Claim::estimate, "mean over models"});
      row.emplace_back(found->second.standard_error);
    }
    table.add_row(std::move(row));
  }
  return table;
}

std::vector<Eigen::Index> ridge_batches() {
  return {1, 2, 5, 10, 20, 50, 100, 150, 180, 190, 195, 198, 199, 200};
}

Table ridge_table(const std::vector<BatchPoint>& points) {
  Table table(
      "table1_ridge",
      fmt::format("KL(D||D') of minibatch SGD on a ridge problem, N = {}, long run", kRidgeRows),
      {{"batch", "batch"},
       {"drift", "drift part"},
       {"covariance", "covariance part"},
       {"kl", "KL"}});
  const auto exact = [](double value) {
    return Claimed<double>{value, Claim::exact,
                           "normal distributions, noise of Spec §10 at the minimisers"};
  };
  for (const BatchPoint& p : points) {
    table.add_row({p.batch, exact(p.drift), exact(p.covariance), exact(p.kl)});
  }
  return table;
}

Figure ridge_figure(const std::vector<BatchPoint>& points) {
  Figure figure("table1_ridge_kl", "KL against the batch size, ridge problem", Mark::line,
                Axis{"batch size", "", Scale::log}, Axis{"KL(D||D')", "nats", Scale::log});
  const auto add = [&](const char* key, const char* title, double BatchPoint::*member) {
    Series series{key, title, {}, {}, {}, Claim::exact, "normal distributions of the long run"};
    for (const BatchPoint& p : points) {
      if (std::isinf(p.*member)) continue;
      series.x.push_back(static_cast<double>(p.batch));
      series.y.push_back(p.*member);
    }
    figure.add(std::move(series));
  };
  add("kl", "KL", &BatchPoint::kl);
  add("drift", "drift part", &BatchPoint::drift);
  add("covariance", "covariance part", &BatchPoint::covariance);
  figure.set_caption(
      "Larger batches raise the KL through its drift part; the covariance part hardly changes.");
  return figure;
}

std::vector<Finding> findings(const std::vector<BatchOutcome>& batches,
                              const std::vector<BatchPoint>& ridge) {
  std::vector<Finding> findings;
  std::size_t smaller = 0, close = 0;
  std::vector<std::string> numbers;
  for (std::size_t e = 0; e < kEpsilons.size(); ++e) {
    const double small = batches[0].outcome.statistics.at(e).maximum.value;
    const double large = batches[1].outcome.statistics.at(e).maximum.value;
    if (small < large) ++smaller;
    for (const BatchOutcome& b : batches) {
      const double ours = b.outcome.statistics.at(e).maximum.value;
      if (ours <= 2.0 * b.setting.printed[e] && ours >= 0.5 * b.setting.printed[e]) ++close;
    }
    numbers.push_back(fmt::format("{:.3g} and {:.3g} at eps = {:g}", small, large, kEpsilons[e]));
  }
  const std::string evidence =
      fmt::format("Batches of 500 and 1,000: {}.", fmt::join(numbers, ", "));
  findings.push_back({"delta_values", "the estimated deltas, within a factor of 2",
                      verdict_of(close, 6), fmt::format("{} of 6 numbers", close), evidence});
  findings.push_back({"smaller_batches", "smaller batches lower the estimated delta",
                      verdict_of(smaller, kEpsilons.size()),
                      fmt::format("{} of {} epsilons", smaller, kEpsilons.size()), evidence});
  const auto measure = [&](std::size_t b, const char* key) {
    const auto found = batches[b].measures.find(key);
    return found == batches[b].measures.end() ? Described{std::nan(""), HUGE_VAL} : found->second;
  };
  const Described small = measure(0, "hessian_trace"), large = measure(1, "hessian_trace");
  const double error = 1.96 * std::hypot(small.standard_error, large.standard_error);
  findings.push_back(
      {"flatter_minima", "smaller batches end in flatter minima",
       small.mean < large.mean - error   ? PaperVerdict::holds
       : small.mean > large.mean + error ? PaperVerdict::does_not_hold
                                         : PaperVerdict::depends,
       "tr H of our models",
       fmt::format("tr H {:.4g} +- {:.2g} (500) against {:.4g} +- {:.2g} (1,000), standard errors.",
                   small.mean, small.standard_error, large.mean, large.standard_error)});
  std::size_t rises = 0, finite = 0;
  for (std::size_t i = 1; i < ridge.size(); ++i) {
    if (std::isinf(ridge[i].kl)) continue;
    ++finite;
    if (ridge[i].kl > ridge[i - 1].kl) ++rises;
  }
  const BatchPoint& first = ridge.front();
  const BatchPoint* last = &first;
  for (const BatchPoint& p : ridge) {
    if (!std::isinf(p.kl)) last = &p;
  }
  findings.push_back(
      {"larger_batches_raise_kl", "a larger batch raises the KL (ridge, exact)",
       verdict_of(rises, finite), fmt::format("{} of {} steps", rises, finite),
       fmt::format(
           "n = {}: KL {:.4g}, of which {:.3g} from the covariances; n = {}: {:.4g}, {:.3g}. "
           "The drift part grows as n/(N - 1 - n); n = N - 1 and n = N: infinite.",
           first.batch, first.kl, first.covariance, last->batch, last->kl, last->covariance)});
  findings.push_back(
      {"sgd_is_private", "the noise of SGD itself protects privacy",
       std::isinf(ridge.back().kl) ? PaperVerdict::does_not_hold : PaperVerdict::holds, "batch = N",
       "Batches of 1,000 see every record: nothing is random but the start, "
       "minibatch noise is zero, "
       "and the KL of two different minimisers is infinite."});
  return findings;
}

/// What the one policy of a study shows.
PolicyOutcome only_outcome(const TrainedStudy& trained, std::size_t batch) {
  PolicyOutcome outcome = outcomes_of(trained).front();
  outcome.policy = fmt::format("batch {}", batch);
  if (outcome.statistics.empty()) {
    throw NumericalFailure("every model diverged", "Lower the learning rate",
                           Where::in(trained.ledger));
  }
  return outcome;
}

/// Nothing if the observer asked to stop.
std::optional<BatchOutcome> train_batch(const PartContext& context, const PrintedBatch& setting) {
  const bool quick = context.scale == RunScale::quick;
  StudyRequest request{setting.study, fmt::format("table1.b{}", setting.batch)};
  if (quick) request.settings = {"audit.pairs=2", "audit.replicas=3"};
  auto closest = train_closest(context, request);
  if (!closest) return std::nullopt;
  if (quick) request.settings.emplace_back("train.iterations=2000");
  auto trained = train_study(context, request);
  if (!trained) return std::nullopt;
  PolicyOutcome outcome = only_outcome(*trained, setting.batch);
  auto measures = describe(*trained);
  return BatchOutcome{setting,
                      std::move(*trained),
                      std::move(outcome),
                      std::move(measures),
                      closest->study,
                      only_outcome(*closest, setting.batch)};
}

}  // namespace

std::optional<PartResult> reproduce_table1(const PartContext& context) {
  std::vector<BatchOutcome> batches;
  for (const PrintedBatch& setting : kTable1) {
    auto batch = train_batch(context, setting);
    if (!batch) return std::nullopt;
    batches.push_back(std::move(*batch));
  }
  const RidgeData data = fashion_ridge(DataPart::train, kRidgeRows, context.places);
  const RidgeProblem problem = ridge_problem(data, kRidge);
  const std::vector<BatchPoint> ridge =
      kl_against_batch(data, kRidge, most_influential_row(problem), kLearningRate, ridge_batches());

  PartResult result;
  const std::vector<double> epsilons(kEpsilons.begin(), kEpsilons.end());
  const std::vector<PolicyOutcome> outcomes = {batches[0].outcome, batches[1].outcome};
  const Table comparison = comparison_table(batches);
  result.blocks.emplace_back(comparison);
  result.blocks.emplace_back(Statement{StatementKind::info, closest_text(kClosestTable1)});
  result.blocks.emplace_back(attack_table("table1_attack",
                                          "The same models attacked: a threshold on the differing "
                                          "record's loss",
                                          outcomes));
  result.blocks.emplace_back(proof_table("table1_proof", outcomes, epsilons.front()));
  result.blocks.emplace_back(flatness_table(batches));
  result.blocks.emplace_back(ridge_table(ridge));
  result.blocks.emplace_back(ridge_figure(ridge));
  for (const BatchOutcome& b : batches) {
    result.blocks.emplace_back(
        losses_figure(fmt::format("table1_losses_b{}", b.setting.batch),
                      fmt::format("Loss of the differing record, batch {}", b.setting.batch),
                      b.trained.policies.front()));
  }
  result.files.push_back({"table1_paper.csv", to_csv(comparison)});
  result.files.push_back({"table1_ridge.csv", to_csv(ridge_table(ridge))});
  result.findings = findings(batches, ridge);
  result.interval = Json::object();
  result.size = Json::object();
  for (const BatchOutcome& b : batches) {
    const std::string key = fmt::format("batch_{}", b.setting.batch);
    for (std::size_t e = 0; e < kEpsilons.size(); ++e) {
      const std::string number = fmt::format("delta_at_{:g}", kEpsilons[e]);
      const ProbabilityInterval& closest = b.closest.intervals.at(e).maximum;
      result.paper[key][number] = b.setting.printed[e];
      result.ours["closest"][key][number] = b.closest.statistics.at(e).maximum.value;
      result.interval["closest"][key][number] = json_interval(closest.lower, closest.upper);
    }
    result.ours[key] = outcome_json(b.outcome, epsilons);
    result.interval[key] = interval_json(b.outcome, epsilons);
    for (const auto& [name, title] : kMeasures) {
      const auto found = b.measures.find(name);
      if (found == b.measures.end()) continue;
      const Described& of = found->second;
      result.ours[key]["flatness"][name] = json_number(of.mean);
      result.interval[key]["flatness"][name] =
          json_interval(of.mean - 1.96 * of.standard_error, of.mean + 1.96 * of.standard_error);
    }
    result.size[key] = size_json(b.trained.study);
    result.size["closest"][key] = size_json(b.closest_study);
    result.reduced = result.reduced || is_reduced(b.trained.study, b.setting.study);
  }
  for (const BatchPoint& p : ridge) {
    result.ours["ridge"].push_back({{"batch", p.batch},
                                    {"drift", json_number(p.drift)},
                                    {"covariance", json_number(p.covariance)},
                                    {"kl", json_number(p.kl)}});
  }
  result.interval["ridge"] = "exact";
  result.size["ridge"] = {{"rows", kRidgeRows},
                          {"parameters", problem.parameters()},
                          {"ridge", kRidge},
                          {"learning_rate", kLearningRate}};
  return result;
}

}  // namespace sfumato::apps
