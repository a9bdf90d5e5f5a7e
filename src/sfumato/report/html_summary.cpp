#include "sfumato/report/html_summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "sfumato/report/html_table.hpp"
#include "sfumato/report/html_text.hpp"
#include "sfumato/report/typeset.hpp"

namespace sfumato {
namespace {

/// More verdicts than this are counted at the top, not listed.
constexpr std::size_t kMostVerdictsOnTop = 6;

std::vector<const Statement*> statements_of(const Document& document, StatementKind kind) {
  std::vector<const Statement*> found;
  for (const Block& block : document.blocks()) {
    const auto* statement = std::get_if<Statement>(&block);
    if (statement != nullptr && statement->kind == kind) found.push_back(statement);
  }
  return found;
}

/// How many verdicts came out how.
struct Tally {
  std::array<std::size_t, 4> counts{};
  std::size_t total = 0;

  void add(const Document& document) {
    for (const Statement* verdict : statements_of(document, StatementKind::verdict)) {
      ++counts[static_cast<std::size_t>(verdict->outcome)];
      ++total;
    }
  }
  /// From a table that lists statements and what became of each; false if this is not one.
  bool add(const Table& table) {
    if (table.key() != "summary") return false;
    const auto column = std::find_if(table.columns().begin(), table.columns().end(),
                                     [](const Column& c) { return c.key == "verdict"; });
    if (column == table.columns().end()) return false;
    const auto at = static_cast<std::size_t>(column - table.columns().begin());
    for (const auto& row : table.rows()) {
      const auto* word = std::get_if<std::string>(&row[at].content());
      if (word == nullptr) continue;
      ++counts[static_cast<std::size_t>(outcome_of_word(*word))];
      ++total;
    }
    return true;
  }
  [[nodiscard]] std::size_t of(Outcome outcome) const {
    return counts[static_cast<std::size_t>(outcome)];
  }
};

std::string tally_html(const Tally& tally) {
  if (tally.of(Outcome::none) == tally.total) {
    return fmt::format("<p>{} verdicts below.</p>\n", tally.total);
  }
  std::string html = "<ul class=\"tally\">";
  const auto item = [&](Outcome outcome, std::string_view words) {
    if (tally.of(outcome) == 0) return;
    html += fmt::format(R"(<li class="{}"><span class="count">{}</span> {}</li>)", name(outcome),
                        tally.of(outcome), words);
  };
  item(Outcome::good, "hold");
  item(Outcome::open, "depend on the interpretation or the case");
  item(Outcome::bad, "do not hold");
  item(Outcome::none, "other verdicts");
  return html + fmt::format("</ul>\n<p>Of {} statements that were checked.</p>\n", tally.total);
}

/// The first chapter that says what it comes to.
const Abstract* abstract_of(const Report& report) {
  for (const Document& chapter : report.chapters) {
    if (chapter.abstract()) return &*chapter.abstract();
  }
  return nullptr;
}

std::string abstract_html(const Report& report) {
  const Abstract* abstract = abstract_of(report);
  if (abstract == nullptr) return {};
  std::string html;
  if (!abstract->asked.empty()) {
    html += fmt::format("<p class=\"lead\">{}</p>\n", typeset_html(abstract->asked));
  }
  if (!abstract->answer.empty()) {
    html += fmt::format("<p class=\"answer\">{}</p>\n", typeset_html(abstract->answer));
  }
  std::string facts;
  const auto fact = [&](std::string_view what, const Text& text) {
    if (text.empty()) return;
    facts += fmt::format("<div><dt>{}</dt><dd>{}</dd></div>\n", what, typeset_html(text));
  };
  fact("Released", abstract->released);
  fact("Cost in accuracy", abstract->cost);
  fact("Recommendation", abstract->advice);
  if (!facts.empty()) html += "<dl class=\"abstract\">\n" + facts + "</dl>\n";
  return html;
}

/// What the overview lists, or the verdicts of all chapters: what goes beyond an overview is not counted with it.
Tally tally_of(const Report& report) {
  Tally tally;
  for (const Block& block : report.chapters.front().blocks()) {
    const auto* table = std::get_if<Table>(&block);
    if (table != nullptr && tally.add(*table)) return tally;
  }
  for (const Document& chapter : report.chapters) tally.add(chapter);
  return tally;
}

std::string verdicts_html(const Report& report) {
  const Tally tally = tally_of(report);
  if (tally.total > kMostVerdictsOnTop) {
    std::string html = tally_html(tally);
    if (report.chapters.size() > 1) return html;
    for (const Statement* verdict :
         statements_of(report.chapters.front(), StatementKind::verdict)) {
      html += html_verdict(*verdict);
    }
    return html;
  }
  std::string html;
  for (const Document& chapter : report.chapters) {
    for (const Statement* verdict : statements_of(chapter, StatementKind::verdict)) {
      html += html_verdict(*verdict);
    }
  }
  return html;
}

/// The line that ends the text of a terminal, unless the top says as much already.
std::string closing_html(const Report& report) {
  if (abstract_of(report) != nullptr) return {};
  std::string html;
  for (const Document& chapter : report.chapters) {
    for (const Statement* statement : statements_of(chapter, StatementKind::summary)) {
      html += fmt::format("<p class=\"closing\">{}</p>\n", typeset_html(statement->text));
    }
  }
  return html;
}

std::string warnings_html(const Report& report) {
  std::size_t count = 0;
  std::string first;
  for (std::size_t c = 0; c < report.chapters.size(); ++c) {
    const std::vector<Block>& blocks = report.chapters[c].blocks();
    for (std::size_t b = 0; b < blocks.size(); ++b) {
      const auto* statement = std::get_if<Statement>(&blocks[b]);
      if (statement == nullptr || statement->kind != StatementKind::warning) continue;
      if (count++ == 0) first = block_id(c, b);
    }
  }
  if (count == 0) return {};
  return fmt::format("<p class=\"warnings\"><a href=\"#{}\">{} warning{}</a> below.</p>\n", first,
                     count, count == 1 ? "" : "s");
}

/// "3 hold, 1 does not" in signs: ✓ 3 ✗ 1.
std::string signs_html(const Document& chapter) {
  Tally tally;
  tally.add(chapter);
  std::string html;
  const auto item = [&](Outcome outcome, std::string_view words) {
    if (tally.of(outcome) == 0) return;
    html += fmt::format(R"( <span class="pill {0}" title="{1} {2}">{3}{1}</span>)", name(outcome),
                        tally.of(outcome), words, sign_of(outcome));
  };
  item(Outcome::good, "hold");
  item(Outcome::open, "depend");
  item(Outcome::bad, "do not hold");
  return html;
}

std::string contents_html(const Report& report, const std::vector<ChapterPlace>& places) {
  if (report.chapters.size() == 1) return {};
  std::string items;
  for (std::size_t c = 0; c < report.chapters.size(); ++c) {
    const Document& chapter = report.chapters[c];
    items += fmt::format("<li><span class=\"number\">{}</span> <a href=\"#chapter-{}\">{}</a>{}",
                         places[c].number, c, html_text(chapter.title()), signs_html(chapter));
    if (c > 0 && chapter.abstract() && !chapter.abstract()->answer.empty()) {
      items +=
          fmt::format("<span class=\"said\">{}</span>", typeset_html(chapter.abstract()->answer));
    }
    items += "</li>\n";
  }
  return "<nav class=\"contents\" aria-label=\"Contents\"><ol>\n" + items + "</ol></nav>\n";
}

}  // namespace

std::string html_summary(const Report& report, const std::vector<ChapterPlace>& places) {
  return fmt::format("<section id=\"summary\" class=\"summary\">\n<h1>{}</h1>\n",
                     html_text(typeset_text(report.title))) +
         abstract_html(report) + verdicts_html(report) + closing_html(report) +
         warnings_html(report) + contents_html(report, places) + "</section>\n";
}

}  // namespace sfumato
