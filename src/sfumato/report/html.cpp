#include "sfumato/report/html.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "sfumato/core/error.hpp"
#include "sfumato/data/checksum.hpp"
#include "sfumato/report/glossary.hpp"
#include "sfumato/report/headline.hpp"
#include "sfumato/report/html_figure.hpp"
#include "sfumato/report/html_table.hpp"
#include "sfumato/report/html_text.hpp"
#include "sfumato/report/web_assets.hpp"

namespace sfumato {
namespace {

/// More verdicts than this are counted at the top, not listed.
constexpr std::size_t kMostVerdictsOnTop = 6;

std::string base64(std::string_view hexadecimal) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const auto nibble = [](char c) -> unsigned {
    return static_cast<unsigned>(c <= '9' ? c - '0' : c - 'a' + 10);
  };
  std::string text;
  // Three bytes, six nibbles, make four digits; missing bytes are zero and shown as '='.
  for (std::size_t i = 0; i < hexadecimal.size(); i += 6) {
    unsigned bits = 0;
    for (std::size_t j = i; j < i + 6; ++j) {
      bits = bits << 4 | (j < hexadecimal.size() ? nibble(hexadecimal[j]) : 0U);
    }
    const std::size_t bytes = std::min<std::size_t>(3, (hexadecimal.size() - i) / 2);
    for (std::size_t d = 0; d < 4; ++d) {
      text += d <= bytes ? kDigits[bits >> (18 - 6 * d) & 63U] : '=';
    }
  }
  return text;
}

/// The browser itself refuses the network and every script but these two.
std::string content_security_policy(const WebAssets& assets) {
  std::string scripts;
  for (const std::string_view script : {assets.page, assets.figures}) {
    if (!script.empty()) scripts += fmt::format(" 'sha256-{}'", base64(sha256(script)));
  }
  return fmt::format(
      "default-src 'none'; script-src{}; style-src 'unsafe-inline'; img-src data: blob:; "
      "base-uri 'none'; form-action 'none'",
      scripts);
}

/// A sign beside the colour, for those who do not see it.
std::string_view sign_of(Outcome outcome) {
  switch (outcome) {
    case Outcome::none: return "";
    case Outcome::good: return "✓ ";
    case Outcome::bad: return "✗ ";
    case Outcome::open: return "? ";
  }
  throw InternalError("unknown outcome");
}

std::string verdict_html(const Statement& verdict) {
  return fmt::format(R"(<p class="verdict {}"><strong class="mark">{}Verdict</strong> {}</p>)"
                     "\n",
                     name(verdict.outcome), sign_of(verdict.outcome), html_text(verdict.text));
}

/// Writes the page from top to bottom and keeps what later parts need: numbers of captions, the words
/// that the glossary looks at.
class Page {
 public:
  explicit Page(const Report& report) : report_(report) {}

  std::string render() {
    std::string chapters;
    for (std::size_t i = 0; i < report_.chapters.size(); ++i) chapters += chapter(i);
    const std::string before = summary() + contents() + chapters;
    const std::string closing = provenance() + reading_guide(before);
    return head() + "<body>\n" + masthead() + "<main>\n" + before + closing + "</main>\n" +
           footer() + scripts() + "</body>\n</html>\n";
  }

 private:
  [[nodiscard]] bool has_chapters() const { return report_.chapters.size() > 1; }

  std::string head() const {
    return fmt::format(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
        "<meta http-equiv=\"Content-Security-Policy\" content=\"{}\">\n"
        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
        "<meta name=\"color-scheme\" content=\"light dark\">\n"
        "<title>{}</title>\n<style>\n{}</style>\n</head>\n",
        content_security_policy(web_assets()), html_text(report_.title), web_assets().style);
  }

  static std::string masthead() {
    return "<a class=\"skip\" href=\"#summary\">Skip to the summary</a>\n"
           "<header class=\"masthead\"><span class=\"brand\">Sfumato</span>"
           "<span class=\"kind\">privacy report</span>"
           "<div class=\"tools\" id=\"tools\"></div></header>\n";
  }

  std::string summary() const {
    std::string html = fmt::format("<section id=\"summary\" class=\"summary\">\n<h1>{}</h1>\n",
                                   html_text(report_.title));
    const std::string_view purpose = purpose_of(report_.chapters.front().command());
    if (!purpose.empty()) html += fmt::format("<p class=\"lead\">{}</p>\n", html_text(purpose));
    html += verdicts() + headlines() + closing_lines() + warning_count();
    return html + "</section>\n";
  }

  std::string verdicts() const {
    std::array<std::size_t, 4> counts{};
    std::string list;
    std::size_t total = 0;
    for (const Document& chapter : report_.chapters) {
      for (const Block& block : chapter.blocks()) {
        const auto* statement = std::get_if<Statement>(&block);
        if (statement == nullptr || statement->kind != StatementKind::verdict) continue;
        ++counts[static_cast<std::size_t>(statement->outcome)];
        ++total;
        list += verdict_html(*statement);
      }
    }
    if (total <= kMostVerdictsOnTop) return list;
    const auto count = [&](Outcome outcome) { return counts[static_cast<std::size_t>(outcome)]; };
    if (count(Outcome::none) == total) return fmt::format("<p>{} verdicts below.</p>\n", total);
    std::string html = "<ul class=\"tally\">";
    const auto item = [&](Outcome outcome, std::string_view words) {
      if (count(outcome) == 0) return;
      html += fmt::format(R"(<li class="{}"><span class="count">{}</span> {}</li>)", name(outcome),
                          count(outcome), words);
    };
    item(Outcome::good, "hold");
    item(Outcome::open, "depend on the interpretation or the case");
    item(Outcome::bad, "do not hold");
    item(Outcome::none, "other verdicts");
    return html + fmt::format("</ul>\n<p>Of {} statements that were checked.</p>\n", total);
  }

  std::string headlines() const {
    std::string html;
    for (const Document& chapter : report_.chapters) {
      for (const Headline& headline : headlines_of(chapter)) {
        html += fmt::format(
            R"(<div class="headline"><p class="label">{}</p><p class="big">{}</p><p>{}</p></div>)"
            "\n",
            html_text(headline.label), html_number(headline.value, headline.style),
            html_text(headline.meaning));
      }
    }
    return html.empty() ? html : "<div class=\"headlines\">\n" + html + "</div>\n";
  }

  std::string closing_lines() const {
    std::string html;
    for (const Document& chapter : report_.chapters) {
      for (const Block& block : chapter.blocks()) {
        const auto* statement = std::get_if<Statement>(&block);
        if (statement == nullptr || statement->kind != StatementKind::summary) continue;
        html += fmt::format("<p class=\"closing\">{}</p>\n", html_text(statement->text));
      }
    }
    return html;
  }

  std::string warning_count() const {
    std::size_t count = 0;
    std::string first;
    for (std::size_t c = 0; c < report_.chapters.size(); ++c) {
      const std::vector<Block>& blocks = report_.chapters[c].blocks();
      for (std::size_t b = 0; b < blocks.size(); ++b) {
        const auto* statement = std::get_if<Statement>(&blocks[b]);
        if (statement == nullptr || statement->kind != StatementKind::warning) continue;
        if (count++ == 0) first = id_of(c, b);
      }
    }
    if (count == 0) return {};
    return fmt::format("<p class=\"warnings\"><a href=\"#{}\">{} warning{}</a> below.</p>\n", first,
                       count, count == 1 ? "" : "s");
  }

  /// A list of the chapters, or of the tables and figures of a single one.
  std::string contents() const {
    std::string items;
    if (has_chapters()) {
      for (std::size_t c = 0; c < report_.chapters.size(); ++c) {
        items += fmt::format("<li><a href=\"#chapter-{}\">{}</a></li>\n", c,
                             html_text(report_.chapters[c].title()));
      }
    } else {
      items += "<li><a href=\"#chapter-0\">Results</a></li>\n";
    }
    items +=
        "<li><a href=\"#provenance\">Provenance</a></li>\n"
        "<li><a href=\"#reading\">How to read the numbers</a></li>\n";
    return "<nav class=\"contents\" aria-label=\"Contents\"><ol>\n" + items + "</ol></nav>\n";
  }

  static std::string id_of(std::size_t chapter, std::size_t block) {
    return fmt::format("block-{}-{}", chapter, block);
  }

  std::string chapter(std::size_t index) {
    const Document& document = report_.chapters[index];
    std::string html =
        fmt::format("<section class=\"chapter\" id=\"chapter-{}\">\n<h2>{}</h2>\n", index,
                    has_chapters() ? html_text(document.title()) : std::string("Results"));
    std::string assumptions;
    for (std::size_t b = 0; b < document.blocks().size(); ++b) {
      const Block& block = document.blocks()[b];
      const std::string id = id_of(index, b);
      if (const auto* table = std::get_if<Table>(&block)) {
        html += html_table(*table, id, ++tables_);
      } else if (const auto* figure = std::get_if<Figure>(&block)) {
        html += html_figure(*figure, id, ++figures_, fmt::format("{}/{}", index, b),
                            !web_assets().figures.empty());
      } else {
        const auto& statement = std::get<Statement>(block);
        if (statement.kind == StatementKind::assumption) {
          assumptions += fmt::format("<li>{}</li>\n", html_text(statement.text));
        } else {
          html += statement_html(statement, id);
        }
      }
    }
    if (!assumptions.empty()) {
      html +=
          "<h3>Assumptions and limits</h3>\n<ul class=\"assumptions\">\n" + assumptions + "</ul>\n";
    }
    return html + "</section>\n";
  }

  static std::string statement_html(const Statement& statement, const std::string& id) {
    switch (statement.kind) {
      case StatementKind::info:
        return fmt::format("<p id=\"{}\">{}</p>\n", id, html_text(statement.text));
      case StatementKind::warning:
        return fmt::format(
            "<p class=\"warning\" id=\"{}\"><strong class=\"mark\">Warning</strong> {}</p>\n", id,
            html_text(statement.text));
      case StatementKind::verdict: return verdict_html(statement);
      case StatementKind::assumption:
      case StatementKind::summary: return {};  // at the end of the chapter, and on top
    }
    throw InternalError("unknown kind of statement");
  }

  std::string provenance() const {
    std::vector<std::pair<std::string, std::string>> facts;
    if (!report_.written.empty()) facts.emplace_back("written", report_.written);
    for (const Document& chapter : report_.chapters) {
      for (const auto& fact : chapter.provenance()) {
        if (std::find(facts.begin(), facts.end(), fact) == facts.end()) facts.push_back(fact);
      }
    }
    std::string html =
        "<section id=\"provenance\">\n<h2>Provenance</h2>\n<dl class=\"provenance\">\n";
    for (const auto& [key, value] : facts) {
      html += fmt::format("<div><dt>{}</dt><dd>{}</dd></div>\n", html_text(key), html_text(value));
    }
    return html + "</dl>\n</section>\n";
  }

  static std::string reading_guide(std::string_view page) {
    std::string html =
        "<section id=\"reading\">\n<h2>How to read the numbers</h2>\n<dl class=\"claims\">\n";
    const auto claim = [&](Claim kind, std::string_view meaning) {
      html += fmt::format("<div><dt>{}</dt><dd>{}</dd></div>\n", html_claim(kind), meaning);
    };
    claim(Claim::exact, "Exact, up to rounding in the last digits shown.");
    claim(Claim::upper_bound, "An upper bound: the truth is at most this. Rounded up.");
    claim(Claim::lower_bound,
          "A lower bound: the truth is at least this, with the stated confidence. Rounded down.");
    claim(Claim::estimate,
          "An estimate: close to the truth if its assumptions hold, but not a bound.");
    html +=
        "</dl>\n<p>Methods and assumptions are in the notes below the tables. Every digit of a "
        "number "
        "is in its tooltip and in the JSON file of this report.</p>\n";
    const std::vector<Term> terms = glossary_for(page);
    if (!terms.empty()) {
      html += "<h3>Glossary</h3>\n<dl class=\"glossary\">\n";
      for (const Term& term : terms) {
        html += fmt::format("<div><dt>{}</dt><dd>{}</dd></div>\n", html_text(term.term),
                            html_text(term.meaning));
      }
      html += "</dl>\n";
    }
    return html + "</section>\n";
  }

  static std::string footer() {
    return "<footer>This file is self-contained: it loads nothing from the network and sends "
           "nothing.</footer>\n";
  }

  std::string scripts() const {
    const WebAssets& assets = web_assets();
    std::string html = "<script type=\"application/json\" id=\"report-data\">" +
                       json_for_script(compact_report_json(report_)) + "</script>\n";
    for (const std::string_view script : {assets.page, assets.figures}) {
      if (!script.empty()) html += fmt::format("<script>{}</script>\n", script);
    }
    return html;
  }

  const Report& report_;
  std::size_t tables_ = 0, figures_ = 0;
};

}  // namespace

std::string html_report(const Report& report) {
  if (report.chapters.empty()) throw InternalError("a report has at least one chapter");
  return Page(report).render();
}

}  // namespace sfumato
