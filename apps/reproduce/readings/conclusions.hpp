#pragma once

#include <optional>
#include <string>
#include <vector>

#include "reproduce/readings/search.hpp"
#include "sfumato/report/table.hpp"

namespace sfumato::apps {

/// A conclusion that the paper draws from a table, and whether the models of a reading lead to it.
struct Conclusion {
  std::string key;
  std::string statement;
  std::optional<bool> holds;  ///< nothing where runs of the paper's size come out either way
  std::string evidence;
};

/// Those of one reading's models; none where they diverged.
[[nodiscard]] std::vector<Conclusion> conclusions_of(PaperTable table, const JudgedReading& judged);

/// Of each differing record, the mean loss on it in D' less that in D, under one of the two noises.
[[nodiscard]] std::vector<double> differing_gaps(const JudgedReading& judged, const char* policy);

/// Which of them survive: the literal reading, the closest and its rivals.
[[nodiscard]] Table conclusions_table(const std::string& key, const ReadingSearch& search);

/// Table 1 at equal numbers of steps: the mean over pairs of the statistic for batches of 500 less that for 1,000, with its
/// standard error. Empty if no training with equal steps was tried.
struct EqualStepsRow {
  TrainedReading training;
  double epsilon, difference, standard_error;
};
[[nodiscard]] std::vector<EqualStepsRow> equal_steps(const ReadingSearch& search);

}  // namespace sfumato::apps
