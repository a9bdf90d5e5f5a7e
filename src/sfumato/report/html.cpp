#include "sfumato/report/html.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "sfumato/core/error.hpp"
#include "sfumato/data/checksum.hpp"
#include "sfumato/report/glossary.hpp"
#include "sfumato/report/html_chapter.hpp"
#include "sfumato/report/html_summary.hpp"
#include "sfumato/report/html_table.hpp"
#include "sfumato/report/html_text.hpp"
#include "sfumato/report/typeset.hpp"
#include "sfumato/report/web_assets.hpp"

namespace sfumato {
namespace {

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

/// Lines of code: each made printable by itself.
std::string html_multiline(std::string_view text) {
  std::string html;
  for (std::size_t from = 0; from <= text.size();) {
    const std::size_t end = std::min(text.find('\n', from), text.size());
    html += (html.empty() ? "" : "\n") + html_text(text.substr(from, end - from));
    from = end + 1;
  }
  return html;
}

/// Where each chapter stands: an overview that has others behind it has no number of its own.
std::vector<ChapterPlace> places_of(const Report& report) {
  if (report.chapters.size() == 1) return {{0, "", true}};
  const bool has_overview = report.chapters.front().command() == "reproduce";
  std::vector<ChapterPlace> places;
  for (std::size_t c = 0; c < report.chapters.size(); ++c) {
    const std::size_t number = has_overview ? c : c + 1;
    places.push_back({c, number == 0 ? "" : fmt::format("{}", number), false});
  }
  return places;
}

/// Writes the page from top to bottom.
class Page {
 public:
  explicit Page(const Report& report) : report_(report) {}

  std::string render() {
    const std::vector<ChapterPlace> places = places_of(report_);
    std::string before = html_summary(report_, places);
    for (std::size_t i = 0; i < report_.chapters.size(); ++i) {
      before += html_chapter(report_.chapters[i], places[i]);
    }
    const std::string closing = reading_guide() + provenance();
    return head() + "<body>\n" + masthead() + "<main>\n" + before + closing + "</main>\n" +
           footer() + scripts() + "</body>\n</html>\n";
  }

 private:
  std::string head() const {
    return fmt::format(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
        "<meta http-equiv=\"Content-Security-Policy\" content=\"{}\">\n"
        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
        "<meta name=\"color-scheme\" content=\"light dark\">\n"
        "<title>{}</title>\n<style>\n{}</style>\n</head>\n",
        content_security_policy(web_assets()), html_text(report_.title), web_assets().style);
  }

  std::string masthead() const {
    return fmt::format(
        "<a class=\"skip\" href=\"#summary\">Skip to the summary</a>\n"
        "<header class=\"masthead\"><span class=\"brand\">Sfumato</span>"
        "<span class=\"kind\">privacy report{}</span>"
        "<div class=\"tools\" id=\"tools\"></div></header>\n",
        report_.written.empty() ? "" : ", " + html_text(report_.written.substr(0, 10)));
  }

  [[nodiscard]] std::string fact(std::string_view key) const {
    for (const auto& [name, value] : report_.made) {
      if (name == key) return value;
    }
    for (const Document& chapter : report_.chapters) {
      for (const auto& [name, value] : chapter.provenance()) {
        if (name == key) return value;
      }
    }
    return {};
  }

  /// Options are not broken behind their hyphens.
  static std::string command_html(std::string_view text) {
    std::string html;
    while (!text.empty()) {
      const std::size_t end = std::min(text.find(' '), text.size() - 1) + 1;
      const std::string word = html_text(text.substr(0, end));
      html += text.starts_with("--") ? "<span class=\"short\">" + word + "</span>" : word;
      text.remove_prefix(end);
    }
    return html;
  }

  std::string provenance() const {
    std::vector<std::pair<std::string, std::string>> facts;
    if (!report_.written.empty()) facts.emplace_back("written", report_.written);
    facts.insert(facts.end(), report_.made.begin(), report_.made.end());
    for (const Document& chapter : report_.chapters) {
      for (const auto& fact : chapter.provenance()) {
        if (std::find(facts.begin(), facts.end(), fact) == facts.end()) facts.push_back(fact);
      }
    }
    std::string html =
        "<section id=\"provenance\">\n<h2>Provenance</h2>\n<dl class=\"provenance\">\n";
    constexpr std::string_view kChecksum = "SHA-256 of ";
    for (const auto& [key, value] : facts) {
      // The name of a file may be long: it stands with its checksum, where there is room.
      html += key.starts_with(kChecksum)
                  ? fmt::format("<div><dt>SHA-256</dt><dd>{}<br>{}</dd></div>\n",
                                html_text(key.substr(kChecksum.size())), html_text(value))
                  : fmt::format("<div><dt>{}</dt><dd>{}</dd></div>\n", html_text(key),
                                key == "command line" ? command_html(value) : html_text(value));
    }
    return html + "</dl>\n" + citation() + "</section>\n";
  }

  /// Software and page in one entry: whoever reads it can run the same again.
  std::string citation() const {
    const std::string version = fact("sfumato"), commit = fact("commit");
    const std::string year = report_.written.substr(0, 4);
    const std::string release = (version.empty() ? "" : " " + version) +
                                (commit.empty() ? "" : fmt::format(" (commit {})", commit));
    const std::string entry = fmt::format(
        "@software{{sfumato,\n  author  = {{{{The Sfumato authors}}}},\n  title   = "
        "{{Sfumato}},\n{}{}  "
        "note    = {{Report \"{}\"}}\n}}",
        version.empty() ? "" : fmt::format("  version = {{{}}},\n", version),
        year.empty() ? "" : fmt::format("  year    = {{{}}},\n", year), report_.title);
    return fmt::format(
        "<h3>How to cite</h3>\n<p>The Sfumato authors{}. Sfumato{}. Report &quot;{}&quot;{}.</p>\n"
        "<details class=\"fold\"><summary>BibTeX</summary><pre>{}</pre></details>\n",
        year.empty() ? "" : fmt::format(" ({})", html_text(year)), html_text(release),
        html_text(report_.title),
        report_.written.empty() ? "" : ", written " + html_text(report_.written),
        html_multiline(entry));
  }

  [[nodiscard]] std::string reading_guide() const {
    std::string html =
        "<section id=\"reading\">\n<h2>How to read the numbers</h2>\n<dl class=\"claims\">\n";
    const auto claim = [&](Claim kind, std::string_view meaning) {
      html += fmt::format("<div><dt>{}</dt><dd>{}</dd></div>\n", html_claim(kind), meaning);
    };
    claim(Claim::exact, "Exact, up to rounding in the last digits shown.");
    claim(Claim::upper_bound, "An upper bound: the truth is at most this. Rounded up.");
    claim(Claim::lower_bound,
          "A lower bound: the truth is at least this; found with trained models, it is so with the "
          "stated confidence. Rounded down.");
    claim(Claim::estimate,
          "An estimate: close to the truth if its assumptions hold, but not a bound.");
    html +=
        "</dl>\n<p>Methods and assumptions are in the notes below the tables. Every digit of a "
        "number is in its tooltip and in the JSON file of this report.</p>\n";
    const std::vector<Term> terms = glossary_for(report_.chapters);
    if (!terms.empty()) {
      html += fmt::format(
          "<details class=\"fold\"><summary>Glossary: {} terms of this page</summary>\n"
          "<dl class=\"glossary\">\n",
          terms.size());
      for (const Term& term : terms) {
        html += fmt::format("<div><dt>{}</dt><dd>{}</dd></div>\n", typeset_html(term.term),
                            typeset_html(term.meaning));
      }
      html += "</dl>\n</details>\n";
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
};

}  // namespace

std::string html_report(const Report& report) {
  if (report.chapters.empty()) throw InternalError("a report has at least one chapter");
  return Page(report).render();
}

}  // namespace sfumato
