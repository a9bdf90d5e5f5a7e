#pragma once

#include <string>
#include <vector>

#include "sfumato/core/number_check.hpp"
#include "sfumato/core/units.hpp"
#include "sfumato/data/toml.hpp"

namespace sfumato {

/// What to say about each output.
struct RiskQuestions {
  std::vector<Epsilon> epsilons;
  std::vector<Delta> deltas;
  std::vector<double> renyi_orders;
  std::vector<double> false_positive_rates;
};

/// What the command line says instead of the file; empty lists leave the file's.
struct Overrides {
  std::vector<double> times;
  std::vector<double> epsilons;
  std::vector<double> deltas;
  std::vector<double> steps = {};
};

/// Throws   InvalidArgument for a time, number of steps, epsilon or delta out of its range.
void require_overrides(const Overrides& overrides);

/// A number, the numbers of a list, or the numbers of a list each once; all pass `check`. `label` is
/// what the message calls the key.
/// Throws   InvalidArgument with file:line:column.
[[nodiscard]] double checked_number(const TomlTable& table, const char* key,
                                    const std::string& label, NumberCheck check);
[[nodiscard]] std::vector<double> checked_list(const TomlTable& table, const char* key,
                                               const std::string& label, NumberCheck check);
[[nodiscard]] std::vector<double> checked_numbers(const TomlTable& table, const char* key,
                                                  const std::string& label, NumberCheck check);

/// The table [risk] of a problem file, or its defaults.
[[nodiscard]] RiskQuestions read_questions(const TomlTable& root, const Overrides& overrides);

}  // namespace sfumato
