#include "reproduce/readings/conclusions.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "reproduce/printed_numbers.hpp"

namespace sfumato::apps {
namespace {

/// Mean and standard error over pairs of the mean over replicas.
struct PairMean {
  double mean = 0.0, standard_error = HUGE_VAL;
};

template <class Value>
std::vector<double> means_of_pairs(const PolicyNumbers& policy, const Value& value) {
  std::vector<double> means;
  for (const auto& pair : policy.pairs) {
    double sum = 0.0;
    for (const TrialNumbers& trial : pair) sum += value(trial);
    means.push_back(sum / static_cast<double>(pair.size()));
  }
  return means;
}

PairMean mean_of(const std::vector<double>& values) {
  const auto n = static_cast<double>(values.size());
  PairMean result;
  for (const double value : values) result.mean += value / n;
  if (values.size() < 2) return result;
  double squares = 0.0;
  for (const double value : values) squares += (value - result.mean) * (value - result.mean);
  result.standard_error = std::sqrt(squares / (n - 1.0) / n);
  return result;
}

const PolicyNumbers* policy(const JudgedReading& judged, std::string_view name) {
  for (const PolicyNumbers& of : judged.models->front()) {
    if (of.policy == name) return &of;
  }
  return nullptr;
}

/// Whether the second number is the smaller one; nothing where 95 % of the simulated runs do not tell.
std::optional<bool> smaller(const NumberFit& first, const NumberFit& second) {
  if (second.upper < first.lower) return true;
  if (second.lower > first.upper) return false;
  return std::nullopt;
}

std::string two(const NumberFit& first, const NumberFit& second) {
  return fmt::format("{:.3g} ({:.3g} .. {:.3g}) and {:.3g} ({:.3g} .. {:.3g})", first.centre,
                     first.lower, first.upper, second.centre, second.lower, second.upper);
}

std::vector<Conclusion> table1_conclusions(const JudgedReading& judged) {
  const std::vector<NumberFit>& numbers = judged.fit->numbers;
  std::size_t lower = 0;
  std::vector<std::string> values;
  for (std::size_t e = 0; e < kTable1Epsilons.size(); ++e) {
    const double small = numbers[e].centre, large = numbers[kTable1Epsilons.size() + e].centre;
    if (small < large) ++lower;
    values.push_back(fmt::format("{:.3g} and {:.3g}", small, large));
  }
  return {{"smaller_batches", "smaller batches lower the estimated delta",
           lower == kTable1Epsilons.size(),
           fmt::format("{} of {} epsilons: {}", lower, kTable1Epsilons.size(),
                       fmt::join(values, ", "))}};
}

/// Between the two noises, by the simulated numbers: delta and loss of the isotropic one, then of the other.
std::vector<Conclusion> table2_conclusions(PaperTable table, const JudgedReading& judged) {
  const std::vector<NumberFit>& n = judged.fit->numbers;
  std::vector<Conclusion> all;
  const double first = n[0].centre, second = n[2].centre;
  if (table == PaperTable::table2_s3) {
    all.push_back({"tenth_of_delta", "anisotropic noise has a tenth of the delta",
                   second <= 0.1 * first, fmt::format("{:.3g} and {:.3g}", first, second)});
  } else {
    all.push_back({"similar_delta", "delta is similar for both noises",
                   std::max(first, second) <= 2.0 * std::min(first, second),
                   fmt::format("{:.3g} and {:.3g}", first, second)});
  }
  all.push_back(
      {"lower_loss", "anisotropic noise keeps a lower loss", smaller(n[1], n[3]), two(n[1], n[3])});
  const PolicyNumbers* none = policy(judged, "none");
  if (none != nullptr && !none->pairs.empty()) {
    const std::vector<double> deltas = means_of_pairs(
        *none, [](const TrialNumbers& trial) { return trial.shares.front().front(); });
    const double without = *std::max_element(deltas.begin(), deltas.end());
    double with = 0.0;
    for (const char* kind : {kIsotropicPerLayer, kAnisotropic}) {
      const PolicyNumbers* noisy = policy(judged, policy_name(kind, judged.reading.noise));
      for (const double delta : means_of_pairs(
               *noisy, [](const TrialNumbers& trial) { return trial.shares.front().front(); })) {
        with = std::max(with, delta);
      }
    }
    // Where models without noise show the same, the comparison says nothing about noise.
    all.push_back({"noise_matters", "the noise decides the estimated delta",
                   std::max(with, without) > 2.0 * std::min(with, without),
                   fmt::format("{:.3g} with noise, {:.3g} without", with, without)});
  }
  return all;
}

std::vector<Conclusion> membership_conclusions(const JudgedReading& judged) {
  const std::vector<NumberFit>& n = judged.fit->numbers;
  std::vector<Conclusion> all = {{"lower_worst_loss", "anisotropic noise has the lower worst loss",
                                  smaller(n[0], n[1]), two(n[0], n[1])}};
  std::vector<std::string> ranges;
  double least = HUGE_VAL, most = 0.0;
  for (const char* kind : {kIsotropicPerLayer, kAnisotropic}) {
    const std::vector<double> gaps = differing_gaps(judged, kind);
    const auto [low, high] = std::minmax_element(gaps.begin(), gaps.end());
    ranges.push_back(fmt::format("{:.2g} .. {:.2g}", *low, *high));
    for (const double gap : gaps) {
      least = std::min(least, std::fabs(gap));
      most = std::max(most, std::fabs(gap));
    }
  }
  all.push_back({"one_record_is_enough", "one differing record shows the distance of the means",
                 most <= 10.0 * least,
                 fmt::format("over the records: {}", fmt::join(ranges, " and "))});
  return all;
}

}  // namespace

std::vector<double> differing_gaps(const JudgedReading& judged, const char* kind) {
  const PolicyNumbers* noisy = policy(judged, policy_name(kind, judged.reading.noise));
  return means_of_pairs(*noisy, [](const TrialNumbers& trial) {
    return trial.differing_loss[1] - trial.differing_loss[0];
  });
}

std::vector<Conclusion> conclusions_of(PaperTable table, const JudgedReading& judged) {
  if (!judged.fit) return {};
  switch (table) {
    case PaperTable::table1: return table1_conclusions(judged);
    case PaperTable::membership: return membership_conclusions(judged);
    default: return table2_conclusions(table, judged);
  }
}

Table conclusions_table(const std::string& key, const ReadingSearch& search) {
  Table table(key, fmt::format("{}: which conclusions survive which reading", title(search.table)),
              {{"reading", "reading"},
               {"statement", "conclusion"},
               {"holds", "follows"},
               {"evidence", "evidence"}},
              1);
  const auto add = [&](const std::string& reading, const JudgedReading& judged) {
    for (const Conclusion& conclusion : conclusions_of(search.table, judged)) {
      const char* follows = !conclusion.holds ? "open" : *conclusion.holds ? "yes" : "no";
      table.add_row({reading, conclusion.statement, follows, conclusion.evidence});
    }
  };
  if (const JudgedReading* literal = search.literal()) add("literal", *literal);
  for (std::size_t i = 0; i < search.confirmed.size(); ++i) {
    add(i == 0 ? "closest, fresh models" : fmt::format("rival {}, fresh models", i),
        search.confirmed[i]);
  }
  return table;
}

std::vector<EqualStepsRow> equal_steps(const ReadingSearch& search) {
  std::vector<EqualStepsRow> rows;
  for (const JudgedReading& judged : search.tried) {
    const Duration duration = judged.reading.training.duration;
    const bool equal = duration == Duration::steps_1000 || duration == Duration::steps_2000 ||
                       duration == Duration::printed;
    if (!equal || judged.reading.statistic != RatioStatistic::printed || !judged.fit) continue;
    for (std::size_t e = 0; e < kTable1Epsilons.size(); ++e) {
      const auto of = [&](std::size_t batch) {
        return mean_of(
            means_of_pairs(judged.models->at(batch).front(),
                           [&](const TrialNumbers& trial) { return trial.shares.front().at(e); }));
      };
      const PairMean small = of(0), large = of(1);
      rows.push_back({judged.reading.training, kTable1Epsilons[e], small.mean - large.mean,
                      std::hypot(small.standard_error, large.standard_error)});
    }
  }
  return rows;
}

}  // namespace sfumato::apps
