#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lab/nn/noise_policy.hpp"
#include "reproduce/part.hpp"

namespace sfumato::apps {

using namespace lab;

/// The tables of the paper that trained networks make, each of which can be read in several ways.
enum class PaperTable { table1, table2_s1, table2_s2, table2_s3, membership };
/// "table1", "table2.s1", ..., "membership": the key of the part that has the table.
[[nodiscard]] std::string_view name(PaperTable table);
/// "Table 2, setting 1", for people.
[[nodiscard]] std::string_view title(PaperTable table);

/// How pixels become inputs: by the set's published mean and deviation, divided by 255, or that and then moved to [-1, 1].
enum class PixelScale { published, unit, half };
/// What "the same seed" for D and D' makes of their randomness: all of it in common, batches over the N slots of D; initial
/// weights and noise in common, D' with a shuffle of its N - 1 records; or nothing.
enum class WorldCoupling { slots, own_batches, own_seeds };
/// How long models are trained: the printed number of steps; as many epochs as make it at b = 100 and N = 1,000; or other steps.
enum class Duration { printed, epochs, steps_2000, steps_1000 };
/// What Algorithm 1 compares with epsilon: ln p/p', ln p'/p, |ln p/p'|, log10 p/p', or p - p'.
enum class RatioStatistic { printed, reversed, absolute, decimal, difference };
/// "Worst loss": the largest over models of the mean loss on their records, or of the loss of one record.
enum class WorstLoss { mean, record };

/// What is trained: one study (two for Table 1), whose policies are all readings of the noise.
struct TrainedReading {
  PixelScale scaling = PixelScale::published;
  WorldCoupling coupling = WorldCoupling::slots;
  Duration duration = Duration::printed;
  std::string activation = "relu";
  double learning_rate = 0.1;

  friend bool operator==(const TrainedReading&, const TrainedReading&) = default;
};

/// A reading of the paper: what is trained, and what is made of the models. A default one is literal.
struct Reading {
  TrainedReading training = {};
  NoiseReading noise = NoiseReading::variance;         ///< not of Table 1
  RatioStatistic statistic = RatioStatistic::printed;  ///< of Table 1
  WorstLoss worst = WorstLoss::mean;                   ///< not of Table 1

  friend bool operator==(const Reading&, const Reading&) = default;
};

/// "pixels in [0, 1], D' shuffled by itself, 1,000 epochs"; of a literal one "as printed".
[[nodiscard]] std::string text(const Reading& reading, PaperTable table);
[[nodiscard]] std::string text(const TrainedReading& training);

/// The readings of the noise that every study of Table 2 trains, and what it is called in its policies:
/// "anisotropic.variance".
[[nodiscard]] const std::vector<NoiseReading>& noise_readings();
[[nodiscard]] std::string policy_name(std::string_view policy, NoiseReading reading);

/// What is trained for a table, declared before anything is: the literal one first, but for Table 1 at the quick scale,
/// where the printed steps would take minutes.
[[nodiscard]] std::vector<TrainedReading> declared_trainings(PaperTable table, RunScale scale);
/// Every reading of those models.
[[nodiscard]] std::vector<Reading> readings_of(PaperTable table, const TrainedReading& training);

/// One study of a table: which of studies/, and the settings that make it the reading's. `noises` are those it trains; a
/// model without noise goes with them.
struct ReadingStudy {
  std::string study;
  std::string
      ledger;  ///< names what is trained, for files; the same for durations of as many steps
  std::vector<std::string> settings;
};
[[nodiscard]] std::vector<ReadingStudy> studies_of(PaperTable table, const TrainedReading& training,
                                                   const std::vector<NoiseReading>& noises,
                                                   RunScale scale);

}  // namespace sfumato::apps
