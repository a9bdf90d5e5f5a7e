#include "reproduce/readings/trained_numbers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "reproduce/printed_numbers.hpp"
#include "sfumato/core/error.hpp"
#include "sfumato/lab/ledger/ledger.hpp"

namespace sfumato::apps {

using namespace lab;
namespace {

constexpr std::array kStatistics = {RatioStatistic::printed, RatioStatistic::reversed,
                                    RatioStatistic::absolute, RatioStatistic::decimal,
                                    RatioStatistic::difference};

const std::vector<float>& series(const WorldResult& world, std::string_view name) {
  for (const NamedSeries& of : world.series) {
    if (of.name == name) return of.values;
  }
  throw InternalError("a trial without the losses of its records");
}

TrialNumbers trial_numbers(const TrialResult& trial, const std::vector<double>& epsilons) {
  TrialNumbers numbers;
  const std::vector<float>&with = series(trial.worlds[0], "record_losses"),
        &without = series(trial.worlds[1], "record_losses");
  for (const RatioStatistic statistic : kStatistics) {
    numbers.shares.emplace_back();
    for (const double epsilon : epsilons) {
      numbers.shares.back().push_back(share_above(statistic, with, without, epsilon));
    }
  }
  for (std::size_t w = 0; w < 2; ++w) {
    const WorldResult& world = trial.worlds[w];
    numbers.mean_loss = std::max(numbers.mean_loss, world.training_loss);
    numbers.record_loss = std::max(numbers.record_loss, world.largest_loss);
    for (const NamedScore& score : world.scores) {
      if (score.name == "loss") numbers.differing_loss[w] = -score.value;
    }
  }
  return numbers;
}

const PolicyNumbers& find(const std::vector<PolicyNumbers>& policies, std::string_view name) {
  const auto found = std::find_if(policies.begin(), policies.end(),
                                  [&](const PolicyNumbers& of) { return of.policy == name; });
  if (found == policies.end()) throw InternalError(fmt::format("no policy is called {}", name));
  return *found;
}

/// Table 1: a sample for each batch size.
std::vector<NumberSample> batch_samples(const Reading& reading,
                                        const std::vector<std::vector<PolicyNumbers>>& studies,
                                        std::size_t records) {
  std::vector<NumberSample> samples;
  for (std::size_t b = 0; b < kTable1.size(); ++b) {
    NumberSample sample{{}, {}, records};
    for (std::size_t e = 0; e < kTable1Epsilons.size(); ++e) {
      sample.numbers.push_back(
          {fmt::format("batch {}, eps {:g}", kTable1[b].batch, kTable1Epsilons[e]),
           kTable1[b].printed[e], Aggregate::largest_mean});
    }
    for (const auto& pair : studies.at(b).front().pairs) {
      sample.trials.emplace_back();
      for (const TrialNumbers& trial : pair) {
        sample.trials.back().push_back(
            trial.shares.at(static_cast<std::size_t>(reading.statistic)));
      }
    }
    if (sample.trials.empty()) return {};
    samples.push_back(std::move(sample));
  }
  return samples;
}

const PrintedNoises& printed_noises(PaperTable table) {
  switch (table) {
    case PaperTable::table2_s1: return kTable2S1;
    case PaperTable::table2_s2: return kTable2S2;
    case PaperTable::table2_s3: return kTable2S3;
    default: throw InternalError("the table has no deltas of two noises");
  }
}

double printed_worst_loss(PaperTable table, std::size_t noise) {
  if (table != PaperTable::membership) return printed_noises(table)[noise].worst_loss;
  const char* policy = noise == 0 ? kIsotropicPerLayer : kAnisotropic;
  for (const PrintedPanel& panel : kMembership) {
    if (std::string_view(panel.policy) == policy) return panel.worst_loss;
  }
  throw InternalError("the membership figure lacks a noise");
}

}  // namespace

double share_above(RatioStatistic statistic, const std::vector<float>& with,
                   const std::vector<float>& without, double epsilon) {
  std::size_t above = 0;
  for (std::size_t i = 0; i < with.size(); ++i) {
    const auto loss = static_cast<double>(with[i]), other = static_cast<double>(without[i]);
    const double log_ratio = other - loss;  // ln p - ln p'
    double value = log_ratio;
    switch (statistic) {
      case RatioStatistic::printed: break;
      case RatioStatistic::reversed: value = -log_ratio; break;
      case RatioStatistic::absolute: value = std::fabs(log_ratio); break;
      case RatioStatistic::decimal: value = log_ratio / std::log(10.0); break;
      case RatioStatistic::difference: value = std::exp(-loss) - std::exp(-other); break;
    }
    above += value > epsilon ? 1U : 0U;
  }
  return static_cast<double>(above) / static_cast<double>(with.size());
}

std::vector<PolicyNumbers> numbers_of(const TrainedStudy& trained) {
  const Study& study = trained.study;
  std::vector<PolicyNumbers> policies(study.noise.size());
  for (std::size_t p = 0; p < policies.size(); ++p) policies[p].policy = study.noise[p].name;
  std::vector<std::map<std::uint32_t, std::vector<TrialNumbers>>> by_pair(policies.size());
  Ledger::read(trained.ledger).for_each([&](const TrialResult& trial) {
    if (trial.status != TrialStatus::ok) {
      ++policies.at(trial.key.policy).diverged;
      return;
    }
    by_pair.at(trial.key.policy)[trial.key.pair].push_back(
        trial_numbers(trial, study.audit.epsilons));
  });
  for (std::size_t p = 0; p < policies.size(); ++p) {
    for (auto& [pair, trials] : by_pair[p]) policies[p].pairs.push_back(std::move(trials));
  }
  return policies;
}

std::vector<NumberSample> samples_of(PaperTable table, const Reading& reading,
                                     const std::vector<std::vector<PolicyNumbers>>& studies,
                                     std::size_t records) {
  if (table == PaperTable::table1) return batch_samples(reading, studies, records);
  std::vector<NumberSample> samples;
  for (std::size_t noise = 0; noise < 2; ++noise) {
    const char* policy = noise == 0 ? kIsotropicPerLayer : kAnisotropic;
    const char* words = noise == 0 ? "isotropic" : "anisotropic";
    const PolicyNumbers& of = find(studies.at(0), policy_name(policy, reading.noise));
    NumberSample sample{{}, {}, records};
    const bool deltas = table != PaperTable::membership;
    if (deltas) {
      sample.numbers.push_back({fmt::format("{}, delta", words), printed_noises(table)[noise].delta,
                                Aggregate::largest_mean});
    }
    sample.numbers.push_back({fmt::format("{}, worst loss", words),
                              printed_worst_loss(table, noise), Aggregate::largest});
    for (const auto& pair : of.pairs) {
      sample.trials.emplace_back();
      for (const TrialNumbers& trial : pair) {
        std::vector<double> numbers;
        if (deltas) numbers.push_back(trial.shares.front().front());
        numbers.push_back(reading.worst == WorstLoss::mean ? trial.mean_loss : trial.record_loss);
        sample.trials.back().push_back(std::move(numbers));
      }
    }
    if (sample.trials.empty()) return {};
    samples.push_back(std::move(sample));
  }
  return samples;
}

PaperRuns paper_runs(PaperTable table) {
  return table == PaperTable::membership ? PaperRuns{1, 50} : PaperRuns{10, 10};
}

}  // namespace sfumato::apps
