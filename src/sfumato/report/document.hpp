#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "sfumato/report/figure.hpp"
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
  std::string text;
  Outcome outcome = Outcome::none;  ///< of a verdict
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
  void state(StatementKind kind, std::string text, Outcome outcome = Outcome::none) {
    add(Statement{kind, std::move(text), outcome});
  }
  /// A fact about how the document came to be: version, seed, checksum of an input.
  /// Throws   InternalError if `key` is taken.
  void add_provenance(std::string key, std::string value);

  [[nodiscard]] const std::string& command() const { return command_; }
  [[nodiscard]] const std::string& title() const { return title_; }
  [[nodiscard]] const std::vector<Block>& blocks() const { return blocks_; }
  [[nodiscard]] const std::vector<std::pair<std::string, std::string>>& provenance() const {
    return provenance_;
  }

 private:
  std::string command_;
  std::string title_;
  std::vector<Block> blocks_;
  std::vector<std::pair<std::string, std::string>> provenance_;
};

}  // namespace sfumato
