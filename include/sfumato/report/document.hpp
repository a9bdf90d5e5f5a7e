#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "sfumato/core/verdict.hpp"
#include "sfumato/report/figure.hpp"
#include "sfumato/report/sentence.hpp"
#include "sfumato/report/table.hpp"

namespace sfumato {

enum class StatementKind {
  info,
  warning,
  assumption,  ///< what must hold for the whole document
  verdict,     ///< what the command decides: a claim holds, is violated, is open
  summary,     ///< one line that closes the output, after everything else
};

/// "info", "warning", ...: how JSON names a kind.
[[nodiscard]] std::string_view name(StatementKind kind);

/// What a verdict comes to, for readers who look at colours first.
enum class Outcome { none, good, bad, open };

/// "none", "good", "bad" or "open".
[[nodiscard]] std::string_view name(Outcome outcome);

struct Statement {
  StatementKind kind;
  Text text;
  Outcome outcome = Outcome::none;  ///< of a verdict
  Text evidence =
      {};  ///< of a verdict: why, in sentences that follow it; its text has no full stop then

  /// With the evidence: "It holds (3 of 3). Two seeds agree."
  [[nodiscard]] std::string plain(KeyStyle keys = KeyStyle::option) const;
};

/// How much of an answer a document shows.
enum class Detail {
  brief,  ///< what was asked: the answer, the numbers that carry it, what it rests on; about 25 lines
  full,  ///< everything, for --full, JSON and the page
};

/// One number of an answer, for programs that want no tables: a flat row of JSON.
struct Result {
  std::string quantity;                          ///< stable name: "advantage", "epsilon_lower"
  std::vector<std::pair<std::string, Cell>> of;  ///< of what: {"row", 383}, {"delta", 1e-5}
  Cell value;
};

/// A claim that was checked, for programs. Numbers that the check has not are left out.
struct CheckedClaim {
  std::string policy;  ///< whose claim; empty where there is only one
  std::string claim;   ///< "eps=3,delta=1e-05", or another statement
  Verdict outcome = Verdict::none;
  std::optional<double> epsilon_lower;  ///< what was shown, at the claimed delta
  std::optional<double> maximum;        ///< the most that could have been shown
  std::optional<double> confidence;
  bool control = false;  ///< nobody claims it of this policy: its outcome is `none`
};

/// What a reader who decides wants to know first, a sentence each; what does not apply is empty.
struct Abstract {
  Text released;  ///< what left the house: "the weights of 12 models", "a ridge regression"
  Text asked;     ///< the question
  Text answer;    ///< in words that need no glossary
  Text cost;      ///< in accuracy
  Text advice;    ///< what to do
};

using Block = std::variant<Table, Figure, Statement>;

/// What every command returns. Renderers turn one document into text, JSON or files; they show
/// the same content, so a command never prints by itself.
class Document {
 public:
  /// `command` is the stable name for programs ("quadratic"), `title` is for people.
  Document(std::string command, std::string title)
      : command_(std::move(command)), title_(std::move(title)) {}

  /// Throws   InternalError if the key of a table or figure is empty or taken.
  void add(Block block);
  void state(StatementKind kind, Text text, Outcome outcome = Outcome::none) {
    add(Statement{kind, std::move(text), outcome});
  }
  /// A fact about how the document came to be: version, seed, checksum of an input.
  /// Throws   InternalError if `key` is taken.
  void add_provenance(std::string key, std::string value);

  /// The top of the page.
  void set_abstract(Abstract abstract) { abstract_ = std::move(abstract); }

  /// Throws   InternalError for a subject called like another key of a result ("value", "claim", ...), and for a number
  ///          that report/quantities does not describe.
  void add_result(std::string quantity, Cell value,
                  std::vector<std::pair<std::string, Cell>> of = {});
  /// The same as another version may have written it.
  void add(Result result);
  void add_verdict(CheckedClaim verdict) { verdicts_.push_back(std::move(verdict)); }

  [[nodiscard]] const std::string& command() const { return command_; }
  [[nodiscard]] const std::string& title() const { return title_; }
  [[nodiscard]] const std::vector<Block>& blocks() const { return blocks_; }
  [[nodiscard]] const std::vector<std::pair<std::string, std::string>>& provenance() const {
    return provenance_;
  }
  [[nodiscard]] const std::optional<Abstract>& abstract() const { return abstract_; }
  [[nodiscard]] const std::vector<Result>& results() const { return results_; }
  [[nodiscard]] const std::vector<CheckedClaim>& verdicts() const { return verdicts_; }

 private:
  std::string command_;
  std::string title_;
  std::vector<Block> blocks_;
  std::vector<std::pair<std::string, std::string>> provenance_;
  std::vector<Result> results_;
  std::vector<CheckedClaim> verdicts_;
  std::optional<Abstract> abstract_;
};

/// A document that carries the version of the library.
[[nodiscard]] Document new_document(const std::string& command, const std::string& title);

}  // namespace sfumato
