#include "sfumato/report/html_chapter.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "sfumato/core/error.hpp"
#include "sfumato/report/html_figure.hpp"
#include "sfumato/report/html_table.hpp"
#include "sfumato/report/html_text.hpp"
#include "sfumato/report/typeset.hpp"
#include "sfumato/report/web_assets.hpp"

namespace sfumato {
namespace {

constexpr std::size_t kLongTable = 12;   // rows
constexpr std::size_t kMostFigures = 2;  // of a chapter among others, at once; a wide one is two
constexpr std::size_t kMostFolds = 4;    // of folded tables that are named each

/// With its evidence.
std::string whole_html(const Statement& verdict) {
  const std::string html = typeset_html(verdict.text);
  return verdict.evidence.empty() ? html : html + ". " + typeset_html(verdict.evidence);
}

std::string short_verdict(const Statement& verdict) {
  const std::string line = fmt::format(R"(<strong class="mark">{}</strong>{})",
                                       sign_of(verdict.outcome), typeset_html(verdict.text));
  if (verdict.evidence.empty()) {
    return fmt::format("<li class=\"verdict-line {}\">{}</li>\n", name(verdict.outcome), line);
  }
  return fmt::format(
      "<li class=\"verdict-line {}\"><details><summary>{}</summary>{}</details></li>\n",
      name(verdict.outcome), line, typeset_html(verdict.evidence));
}

/// A sentence as the page has it: its first word with a capital, unless it begins with a key, a formula, a number or a name, or
/// nobody marked what it begins with.
Text capitalised(const Text& text) {
  if (text.empty()) return text;
  Text::Part first = text.parts().front();
  if (auto* words = std::get_if<Words>(&first)) {
    char& c = words->words.front();
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  }
  Text changed;
  changed.add(std::move(first));
  for (std::size_t i = 1; i < text.parts().size(); ++i) changed.add(text.parts()[i]);
  return changed;
}

class Chapter {
 public:
  Chapter(const Document& document, const ChapterPlace& place)
      : document_(document), place_(place) {}

  std::string render() {
    for (const Block& block : document_.blocks()) {
      has_figures_ = has_figures_ || std::holds_alternative<Figure>(block);
      if (first_ == nullptr) first_ = std::get_if<Table>(&block);
    }
    for (const Block& block : document_.blocks()) {
      const auto* table = std::get_if<Table>(&block);
      if (table != nullptr && !is_folded(*table)) ++shown_tables_;
    }
    for (std::size_t b = 0; b < document_.blocks().size(); ++b) add(b);
    std::string html = fmt::format("<section class=\"chapter\" id=\"chapter-{}\">\n", place_.index);
    html += place_.is_only
                ? std::string("<h2>Results</h2>\n")
                : fmt::format("<h2>{}{}</h2>\n", number_html(), html_text(document_.title()));
    // The answer of the first chapter is that of the page, on top.
    if (place_.index > 0 && document_.abstract() && !document_.abstract()->answer.empty()) {
      html += fmt::format("<p class=\"chapter-answer\">{}</p>\n",
                          typeset_html(document_.abstract()->answer));
    }
    html += verdicts() + lead_ + first_table_ + figures() + rest_;
    html += folds();
    if (!assumptions_.empty()) {
      html += fmt::format(
          "<{0}><h3>Assumptions and limits</h3>{1}\n<ul class=\"assumptions\">\n{2}</ul>\n{3}",
          place_.is_only ? "div" : "details class=\"fold\"><summary",
          place_.is_only ? "" : "</summary>", assumptions_,
          place_.is_only ? "</div>\n" : "</details>\n");
    }
    return html + "</section>\n";
  }

 private:
  [[nodiscard]] std::string number_html() const {
    if (place_.number.empty()) return {};
    return fmt::format("<span class=\"number\">{}</span> ", place_.number);
  }
  [[nodiscard]] std::string numbered(std::size_t count) const {
    return place_.number.empty() ? fmt::format("{}", count)
                                 : fmt::format("{}.{}", place_.number, count);
  }

  void add(std::size_t b) {
    const Block& block = document_.blocks()[b];
    const std::string id = block_id(place_.index, b);
    if (const auto* table = std::get_if<Table>(&block)) {
      add_table(*table, id);
    } else if (const auto* figure = std::get_if<Figure>(&block)) {
      figure_places_ += is_wide(*figure) ? std::size_t{2} : 1;
      if (place_.is_only || figure_places_ <= kMostFigures || figures_.empty()) ++shown_figures_;
      figures_.push_back(html_figure(*figure, id, numbered(++figure_count_),
                                     fmt::format("{}/{}", place_.index, b),
                                     !web_assets().figures.empty()));
    } else {
      add_statement(std::get<Statement>(block), id);
    }
  }

  /// Long tables are; of a chapter among others, all but a first one that stands for figures.
  [[nodiscard]] bool is_folded(const Table& table) const {
    return table.rows().size() > kLongTable ||
           (!place_.is_only && (has_figures_ || &table != first_));
  }

  void add_table(const Table& table, const std::string& id) {
    const bool folded = is_folded(table);
    std::string& to = folded ? folded_ : &table == first_ ? first_table_ : rest_;
    // By the order on the page, where the folded ones stand at the end.
    const std::size_t number = folded ? shown_tables_ + ++folded_count_ : ++shown_count_;
    to += html_table(table, id, numbered(number), folded);
    last_ = folded ? &rest_ : &to;
  }

  void add_statement(const Statement& statement, const std::string& id) {
    switch (statement.kind) {
      case StatementKind::info:
        *last_ += fmt::format("<p id=\"{}\">{}</p>\n", id, typeset_html(statement.text));
        return;
      case StatementKind::warning:
        lead_ += fmt::format(
            "<p class=\"warning\" id=\"{}\"><strong class=\"mark\">Warning</strong> {}</p>\n", id,
            typeset_html(capitalised(statement.text)));
        return;
      case StatementKind::verdict: verdicts_.push_back(&statement); return;
      case StatementKind::assumption:
        assumptions_ += fmt::format("<li>{}</li>\n", typeset_html(capitalised(statement.text)));
        return;
      case StatementKind::summary: return;  // on top
    }
    throw InternalError("unknown kind of statement");
  }

  [[nodiscard]] std::string verdicts() const {
    if (place_.is_only || verdicts_.empty()) return {};
    std::string html =
        fmt::format("<ul class=\"verdicts{}\">\n", verdicts_.size() > 3 ? " many" : "");
    for (const Statement* verdict : verdicts_) html += short_verdict(*verdict);
    return html + "</ul>\n";
  }

  /// The folded tables; many of them are one fold more.
  [[nodiscard]] std::string folds() const {
    if (folded_.empty()) return {};
    const std::string tables = "<div class=\"folds\">\n" + folded_ + "</div>\n";
    if (place_.is_only || folded_count_ <= kMostFolds) return tables;
    return fmt::format(
        "<details class=\"fold\"><summary>{} tables of this chapter</summary>\n{}</details>\n",
        folded_count_, tables);
  }

  [[nodiscard]] std::string figures() const {
    if (figures_.empty()) return {};
    const auto grid = [&](std::size_t count, const std::string& all) {
      return fmt::format("<div class=\"figures{}\">\n{}</div>\n",
                         count > 1 || !place_.is_only ? " several" : "", all);
    };
    std::string shown, folded;
    std::size_t hidden = 0;
    for (std::size_t i = 0; i < figures_.size(); ++i) {
      if (i < shown_figures_) {
        shown += figures_[i];
      } else {
        folded += figures_[i];
        ++hidden;
      }
    }
    std::string html = grid(figures_.size() - hidden, shown);
    if (hidden == 0) return html;
    return html + fmt::format(
                      "<details class=\"fold\"><summary>{} more figure{}</summary>\n{}</details>\n",
                      hidden, hidden == 1 ? "" : "s", grid(hidden, folded));
  }

  const Document& document_;
  const ChapterPlace& place_;
  std::vector<const Statement*> verdicts_;
  std::vector<std::string> figures_;
  std::string lead_, first_table_, rest_, folded_, assumptions_;
  std::string* last_ = &lead_;  ///< what a statement in between belongs to
  const Table* first_ = nullptr;
  bool has_figures_ = false;
  std::size_t figure_places_ = 0, shown_figures_ = 0;
  std::size_t shown_tables_ = 0;  ///< that are not folded
  std::size_t shown_count_ = 0, folded_count_ = 0, figure_count_ = 0;
};

}  // namespace

std::string block_id(std::size_t chapter, std::size_t block) {
  return fmt::format("block-{}-{}", chapter, block);
}

std::string sign_of(Outcome outcome) {
  switch (outcome) {
    case Outcome::none: return "";
    case Outcome::good: return "✓ ";
    case Outcome::bad: return "✗ ";
    case Outcome::open: return "? ";
  }
  throw InternalError("unknown outcome");
}

std::string html_verdict(const Statement& verdict) {
  return fmt::format(R"(<p class="verdict {}"><strong class="mark">{}Verdict</strong> {}</p>)"
                     "\n",
                     name(verdict.outcome), sign_of(verdict.outcome), whole_html(verdict));
}

std::string html_chapter(const Document& document, const ChapterPlace& place) {
  return Chapter(document, place).render();
}

}  // namespace sfumato
