#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lab/images/data_sets.hpp"
#include "sfumato/core/observer.hpp"
#include "sfumato/report/document.hpp"

namespace sfumato::apps {

using namespace lab;

/// How much work a reproduction does: seconds to minutes, or the paper's own sizes.
enum class RunScale { quick, paper };
[[nodiscard]] std::string_view name(RunScale scale);

enum class PaperVerdict { holds, does_not_hold, depends };
/// "holds", "does not hold" or "depends".
[[nodiscard]] std::string_view name(PaperVerdict verdict);
/// The verdict on a statement that was tried in `total` cases and found true in `confirmed`.
[[nodiscard]] PaperVerdict verdict_of(std::size_t confirmed, std::size_t total);

/// One statement of the paper, in our words, and what became of it.
struct Finding {
  std::string key;        ///< stable name for programs
  std::string statement;  ///< short enough for a table
  PaperVerdict verdict;
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
  /// How sure `ours` is, under the same names: [lower, upper]; or one sentence for all of it.
  nlohmann::ordered_json interval = "exact: closed forms and quadrature, nothing is sampled";
  /// What the scale made of it: models, steps, sizes.
  nlohmann::ordered_json size = nullptr;
  bool reduced = false;  ///< smaller than what the paper did
};

/// What a part may use. Trained models go to ledgers in `directory`, so that work that was stopped goes
/// on where it was.
struct PartContext {
  RunScale scale = RunScale::quick;
  std::string directory = {};              ///< exists
  std::vector<std::string> settings = {};  ///< key=value for every study, after those of the scale
  unsigned threads = 0;                    ///< 0: all cores
  DataPlaces places = {};
  Observer* observer = nullptr;  ///< never null while a part runs
};

/// What the paper calls a part by number: its figures and tables are not those of the page.
enum class PaperNumber { none, figure, table };

/// A table or figure of the paper that can be made again.
struct Part {
  std::string key;       ///< for --only and as the start of file names
  std::string title;     ///< for people
  std::string data_set;  ///< known set without which it cannot run; empty: none
  bool beyond = false;   ///< not in the paper: its findings are not what the paper says
  PaperNumber number = PaperNumber::none;  ///< of the title
  /// Nothing if the observer asked to stop.
  std::optional<PartResult> (*run)(const PartContext& context) = nullptr;

  /// Whether it is meant by this word: its key, or the start of it before a dot ("table2").
  [[nodiscard]] bool is_called(std::string_view word) const;
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

/// The paper's bounds as printed, corrected, and against the truth on the counterexamples of
/// docs/errata.md.
[[nodiscard]] PartResult reproduce_theorem(RunScale scale);

/// Different drifts and different noise in 1 to 100 dimensions: exact, printed, corrected, matched process.
[[nodiscard]] PartResult reproduce_unequal(RunScale scale);

/// Table 1: SGD without added noise, batches of 500 and of 1,000; flatness of the same models, and the
/// batch-size argument on a ridge problem.
[[nodiscard]] std::optional<PartResult> reproduce_table1(const PartContext& context);

/// Table 2, its settings 1 to 3: the paper's statistic and worst loss for both kinds of noise, and what
/// attacks achieve on the same models.
[[nodiscard]] std::optional<PartResult> reproduce_table2_s1(const PartContext& context);
[[nodiscard]] std::optional<PartResult> reproduce_table2_s2(const PartContext& context);
[[nodiscard]] std::optional<PartResult> reproduce_table2_s3(const PartContext& context);

/// The toy example of membership inference: losses of the differing record over 50 runs.
[[nodiscard]] std::optional<PartResult> reproduce_membership(const PartContext& context);

/// Risk against loss over a sweep of sigma^2 for five kinds of noise: measured on networks, exact on a
/// ridge problem. The picture the paper argues for and does not draw.
[[nodiscard]] std::optional<PartResult> reproduce_frontier(const PartContext& context);

/// The last word: corrected bounds, noise with a guarantee at equal certified epsilon, and when noise should be unequal.
[[nodiscard]] std::optional<PartResult> reproduce_works(const PartContext& context);

}  // namespace sfumato::apps
