#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace sfumato::apps {

/// How a printed number comes from many runs: the largest over pairs of the mean over replicas, or the largest of all models.
enum class Aggregate { largest_mean, largest };

struct PrintedNumber {
  std::string name;
  double printed;  ///< > 0
  Aggregate aggregate;
};

/// What the models of one study give for some printed numbers.
struct NumberSample {
  std::vector<PrintedNumber> numbers;
  /// [pair][replica][number]: shares of records for largest_mean, losses for largest. Pairs have one replica or more.
  std::vector<std::vector<std::vector<double>>> trials;
  std::size_t records;  ///< N: a share that is 0 counts as half a record of one pair
};

/// How many pairs and replicas the printed numbers are the largest of: T1 and T2.
struct PaperRuns {
  std::size_t pairs = 10, replicas = 10;
};

struct NumberFit {
  PrintedNumber number;
  double centre = 0.0;              ///< median of the simulated number
  double lower = 0.0, upper = 0.0;  ///< 95 % of the simulated numbers
};

/// How far a reading is from the printed numbers. A maximum over few pairs varies much, so that it is simulated at the paper's own
/// numbers of runs: trials are a mean, a normal effect of the pair and a normal effect of the replica, with the covariances
/// (between the numbers) that the trained models show; losses are so in their logarithm.
struct ReadingDistance {
  std::vector<NumberFit> numbers;
  double distance = 0.0;  ///< sum over numbers of |log10(centre / printed)|
  /// 95 % for `distance` over other trained models: bootstrap over pairs and their replicas. Equal to it if not asked for.
  double lower = 0.0, upper = 0.0;
  /// What a run of exactly this reading would be away from its own centre, on average: no reading can be expected to be closer.
  double chance = 0.0;
  /// The share of such runs that are as far away as the paper's numbers: small if the reading does not explain them.
  double p_value = 0.0;
  std::size_t trials = 0;
};

/// A pure function of its arguments. With one replica of each pair all variation counts as that of pairs; with one pair, as that
/// of replicas: then it says too little.
/// Throws   InternalError if there is no sample, trial or number, or a value is not finite.
[[nodiscard]] ReadingDistance distance_to_paper(std::span<const NumberSample> samples,
                                                const PaperRuns& runs, std::uint64_t seed,
                                                bool with_interval);

}  // namespace sfumato::apps
