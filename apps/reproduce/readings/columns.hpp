#pragma once

#include <optional>
#include <string>
#include <vector>

#include "reproduce/readings/search.hpp"
#include "sfumato/report/table.hpp"

namespace sfumato::apps {

/// The simulated number of a reading as a table has it: its median, and where 95 % are.
[[nodiscard]] Cell centre_cell(const JudgedReading& judged, std::size_t number);
[[nodiscard]] Cell interval_cell(const JudgedReading& judged, std::size_t number);

/// A number of the literal models, and in words how sure it is.
struct LiteralNumber {
  Claimed<double> value;
  std::string interval;
};

/// What a table has of a number that two noises have: the paper, its text taken literally (nothing if every model diverged),
/// the closest reading.
struct ComparedNumber {
  std::string policy, number;
  double printed;
  std::optional<LiteralNumber> literal;
  Cell closest, closest_interval;
};
[[nodiscard]] Table compared_table(const std::string& key, const std::string& title,
                                   const std::vector<ComparedNumber>& numbers);

/// One sentence: which reading the last column of a table is, and how far it is from the paper.
[[nodiscard]] std::string closest_text(const ReadingSearch& search);

}  // namespace sfumato::apps
