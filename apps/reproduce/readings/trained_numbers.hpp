#pragma once

#include <cstdint>
#include <vector>

#include "reproduce/readings/distance.hpp"
#include "reproduce/readings/reading.hpp"
#include "reproduce/studies.hpp"

namespace sfumato::apps {

/// What one trial (the models of D and of D' of one seed) gives under every reading of the statistic and of the worst loss.
struct TrialNumbers {
  /// [statistic][epsilon]: the share of D's records above epsilon.
  std::vector<std::vector<double>> shares;
  double mean_loss = 0.0, record_loss = 0.0;  ///< the larger of both worlds
  double differing_loss[2] = {};              ///< of the differing record, D and D'
};

/// The trials of one policy that did not diverge, by pair.
struct PolicyNumbers {
  std::string policy;
  std::vector<std::vector<TrialNumbers>> pairs;
  std::uint64_t diverged = 0;
};

/// Reads the ledger of a study once.
[[nodiscard]] std::vector<PolicyNumbers> numbers_of(const TrainedStudy& trained);

/// The share of records whose statistic is above epsilon, from the losses -ln p of D's records in both worlds.
[[nodiscard]] double share_above(RatioStatistic statistic, const std::vector<float>& with,
                                 const std::vector<float>& without, double epsilon);

/// What a reading gives for the printed numbers of its table, from its studies in the order of studies_of(). Empty where every
/// model of a policy diverged.
[[nodiscard]] std::vector<NumberSample> samples_of(
    PaperTable table, const Reading& reading,
    const std::vector<std::vector<PolicyNumbers>>& studies, std::size_t records);

/// How many runs the printed numbers of a table are the largest of.
[[nodiscard]] PaperRuns paper_runs(PaperTable table);

}  // namespace sfumato::apps
