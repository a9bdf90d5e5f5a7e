#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "sfumato/report/document.hpp"

namespace sfumato {

/// How much work a reproduction does: seconds to minutes, or the paper's own sizes.
enum class RunScale { quick, paper };
[[nodiscard]] std::string_view name(RunScale scale);

enum class Verdict { holds, does_not_hold, depends };
/// "holds", "does not hold" or "depends".
[[nodiscard]] std::string_view name(Verdict verdict);
/// The verdict on a statement that was tried in `total` cases and found true in `confirmed`.
[[nodiscard]] Verdict verdict_of(std::size_t confirmed, std::size_t total);

/// One statement of the paper, in our words, and what became of it.
struct Finding {
  std::string key;        ///< stable name for programs
  std::string statement;  ///< short enough for a table
  Verdict verdict;
  std::string extent;    ///< "5 of 7 differences"
  std::string evidence;  ///< one sentence with the numbers
};

/// A file that a part leaves for other programs.
struct ResultFile {
  std::string name;
  std::string bytes;
};

/// What one part of the paper becomes.
struct PartResult {
  std::vector<Block> blocks;      ///< tables and figures; their keys start with the part's
  std::vector<Finding> findings;  ///< the paper's statements about this part
  std::vector<ResultFile> files;  ///< besides the JSON of the blocks
  nlohmann::ordered_json paper;   ///< what the paper gives: numbers, settings, what it leaves open
  nlohmann::ordered_json ours;    ///< what we get, under the same names where it has them
};

/// A table or figure of the paper that can be made again.
struct Part {
  std::string key;    ///< for --only and as the start of file names
  std::string title;  ///< for people
  PartResult (*run)(RunScale scale);
};

/// Every part, in the paper's order.
[[nodiscard]] const std::vector<Part>& reproduction_parts();

/// Privacy and accuracy over the plane of noises diag(x, y), for two settings of the sensitivities.
[[nodiscard]] PartResult reproduce_figure1(RunScale scale);

/// The best noise diag(x, y) against the loss of accuracy. Both scales are the same.
[[nodiscard]] PartResult reproduce_figure2(RunScale scale);

/// Condition numbers 10 and 100 of the quadratic objective: figure3.hpp as tables, figures, files
/// and findings.
[[nodiscard]] PartResult reproduce_figure3(RunScale scale);

}  // namespace sfumato
