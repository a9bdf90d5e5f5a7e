#include "sfumato/report/html.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "sfumato/core/error.hpp"
#include "sfumato/report/html_figure.hpp"
#include "sfumato/report/html_table.hpp"
#include "sfumato/report/html_text.hpp"

namespace sfumato {
namespace {

constexpr const char* kHostile =
    "<img src=x onerror=alert(1)></script><script>alert(2)</script>\"'&";

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t n = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++n;
  return n;
}

TEST(HtmlText, EscapesMarkupAndControlCharacters) {
  EXPECT_EQ(html_text("a & b < c > d \" e ' f"), "a &amp; b &lt; c &gt; d &quot; e &#39; f");
  EXPECT_EQ(html_text("&amp;"), "&amp;amp;");
  EXPECT_EQ(html_text("a\x1b[31m\xe2\x80\xae"), "a\\x1b[31m\\u{202e}");
  EXPECT_EQ(html_text("\xff"), "\xef\xbf\xbd");
  EXPECT_EQ(html_text("≤ ε"), "≤ ε");
}

TEST(JsonForScript, CannotEndTheElement) {
  EXPECT_EQ(json_for_script(R"({"a":"</script><!--"})"), R"({"a":"\u003c/script>\u003c!--"})");
}

TEST(HtmlReport, EscapesEverythingThatComesFromDocuments) {
  Document document(kHostile, kHostile);
  document.add_provenance(kHostile, kHostile);
  for (const StatementKind kind :
       {StatementKind::info, StatementKind::warning, StatementKind::assumption,
        StatementKind::verdict, StatementKind::summary}) {
    document.state(kind, kHostile);
  }
  Table table(kHostile, kHostile, {{kHostile, kHostile, kHostile}, {"v", "v"}});
  table.add_row({kHostile, Claimed<double>{1.5, Claim::exact, kHostile, {kHostile}}});
  table.add_row({Empty{kHostile}, 1});
  document.add(table);
  Figure figure("f", kHostile, Mark::line, {kHostile, kHostile}, {kHostile, kHostile});
  figure.set_caption(kHostile);
  Series series{kHostile, kHostile, {1}, {2}, {}, Claim::estimate, kHostile, {kHostile}};
  series.labels = {kHostile};
  figure.add(series);
  document.add(figure);
  const Report report{kHostile, {document, document}, {{"entry", R"({"text": "</script>"})"}}};
  const std::string page = html_report(report);
  EXPECT_EQ(page.find("<img"), std::string::npos);
  EXPECT_EQ(page.find("<script>alert"), std::string::npos);
  EXPECT_GE(count(page, "&lt;img src=x onerror=alert(1)&gt;"), 30u);
  // What the drawing takes from attributes is escaped as well.
  EXPECT_EQ(count(page, "data-title=\"<"), 0u);
  // The data, and the two scripts of which a build without Node.js has one: nothing else ends one.
  EXPECT_EQ(count(page, "</script>"), count(page, "<script"));
}

TEST(HtmlReport, AsksTheNetworkForNothing) {
  const std::string page = html_report({"T", {Document("audit", "T")}});
  EXPECT_NE(page.find("default-src 'none'"), std::string::npos);
  for (const char* loads : {"src=", "<link", "@import", "url(http", "<iframe", "<base"}) {
    const std::string head = page.substr(0, page.find("<script"));
    EXPECT_EQ(head.find(loads), std::string::npos) << loads;
  }
}

TEST(HtmlReport, NeedsAChapter) { EXPECT_THROW((void)html_report({"T", {}}), InternalError); }

TEST(HtmlReport, CountsManyVerdictsAndListsFew) {
  Document document("reproduce", "T");
  for (int i = 0; i < 6; ++i) document.state(StatementKind::verdict, "said", Outcome::good);
  const std::string few = html_report({"T", {document}});
  EXPECT_EQ(few.find("class=\"tally\""), std::string::npos);
  EXPECT_EQ(count(few, "class=\"verdict good\""), 6u);
  document.state(StatementKind::verdict, "no", Outcome::bad);
  const std::string many = html_report({"T", {document}});
  EXPECT_NE(many.find("<li class=\"good\"><span class=\"count\">6</span>"), std::string::npos);
  EXPECT_NE(many.find("<li class=\"bad\"><span class=\"count\">1</span>"), std::string::npos);
  EXPECT_EQ(count(many, "class=\"verdict good\""), 6u);
}

TEST(HtmlTable, RoundsTowardsTheClaimAndKeepsEveryDigit) {
  Table table("t", "T", {{"v", "v", "nats"}});
  table.add_row({Claimed<double>{0.123449999, Claim::upper_bound}});
  table.add_row({Claimed<double>{0.123450001, Claim::lower_bound}});
  const std::string html = html_table(table, "id", "2.7", false);
  EXPECT_NE(html.find(">≤</span> <data value=\"0.123449999\" title=\"0.123449999\">0.1235</data>"),
            std::string::npos);
  EXPECT_NE(html.find(">≥</span> <data value=\"0.123450001\" title=\"0.123450001\">0.1234</data>"),
            std::string::npos);
  EXPECT_NE(html.find("Table 2.7."), std::string::npos);
  EXPECT_NE(html.find("nats"), std::string::npos);
}

TEST(HtmlTable, NotesAreSharedByAColumnOrStandBesideTheirCells) {
  Table table("t", "T", {{"a", "a"}, {"b", "b"}});
  table.add_row(
      {Claimed<double>{0.5, Claim::exact, "one"}, Claimed<double>{0.5, Claim::exact, "x"}});
  table.add_row({Claimed<double>{0.7, Claim::exact, "one"}, Empty{"because"}});
  table.add_row(
      {Claimed<double>{0.7, Claim::exact, "one"}, Claimed<double>{1.5, Claim::exact, "y"}});
  const std::string html = html_table(table, "t", "1", false);
  EXPECT_EQ(count(html, "href=\"#t-note-1\""), 1u);
  EXPECT_EQ(count(html, "<li id=\"t-note-"), 4u);
  EXPECT_NE(html.find("<li id=\"t-note-3\">because</li>"), std::string::npos);
}

TEST(HtmlTable, AFoldHasTheCaptionAsItsSummary) {
  Table table("t", "Rates at eps = 1", {{"v", "sigma^2"}});
  for (int i = 0; i < 3; ++i) table.add_row({i});
  const std::string html = html_table(table, "t", "1", true);
  EXPECT_NE(html.find("<details class=\"fold\"><summary id=\"t-caption\">"), std::string::npos);
  EXPECT_NE(html.find("Rates at ε = 1"), std::string::npos);
  EXPECT_NE(html.find("3 rows"), std::string::npos);
  EXPECT_EQ(html.find("<caption"), std::string::npos);
  EXPECT_NE(html.find("data-text=\"sigma^2\""), std::string::npos);  // what is copied
}

TEST(HtmlReport, LongTablesFoldAndChaptersNumberTheirs) {
  Table long_one("long", "L", {{"v", "v"}}), short_one("short", "S", {{"v", "v"}});
  for (int i = 0; i < 13; ++i) long_one.add_row({i});
  short_one.add_row({1});
  Document document("rows", "T");
  document.add(short_one);
  document.add(long_one);
  const std::string alone = html_report({"T", {document}});
  EXPECT_NE(alone.find("<caption id=\"block-0-0-caption\"><span class=\"label\">Table 1.</span>"),
            std::string::npos);
  EXPECT_NE(alone.find("<summary id=\"block-0-1-caption\"><span class=\"label\">Table 2.</span>"),
            std::string::npos);
  const std::string both = html_report({"T", {document, document}});
  for (const char* label : {"Table 1.1.", "Table 1.2.", "Table 2.1.", "Table 2.2."}) {
    EXPECT_NE(both.find(label), std::string::npos) << label;
  }
}

TEST(HtmlReport, ManyFoldedTablesAreOneFold) {
  Document chapter("audit", "T");
  for (int i = 0; i < 6; ++i) {
    Table table(fmt::format("table{}", i), "S", {{"v", "v"}});
    table.add_row({i});
    chapter.add(table);
  }
  EXPECT_NE(
      html_report({"T", {chapter, chapter}}).find("<summary>5 tables of this chapter</summary>"),
      std::string::npos);
  EXPECT_EQ(html_report({"T", {chapter}}).find("tables of this chapter"), std::string::npos);
}

TEST(HtmlReport, TheTopSaysWhatWasAskedAndFound) {
  Document document("audit", "T");
  document.set_abstract(
      {"12 models", say("Is {} 1 true?", Maths{"eps <="}),
       say("No: {} {}.", Maths{"eps >="}, ClaimedNumber{{2.0, Claim::lower_bound}}), "Nothing.",
       "Do not publish."});
  document.state(StatementKind::verdict, "VIOLATION (policy none)", Outcome::bad);
  Report report{"T", {document}, {}, "2026-11-17 12:00 UTC"};
  report.made = {{"command line", "sfumato audit"}, {"commit", "abc"}};
  const std::string page = html_report(report);
  std::size_t at = 0;
  for (const char* part :
       {"<h1>T</h1>", "Is ε ≤ 1 true?", "<p class=\"answer\">No: ε ≥\u00a02.</p>", "12 models",
        "Nothing.", "Do not publish.", "VIOLATION (policy none)", "<h2>Results", "sfumato audit",
        "How to cite", "(commit abc)"}) {
    const std::size_t found = page.find(part, at);
    ASSERT_NE(found, std::string::npos) << part;
    at = found;
  }
}

TEST(HtmlReport, SentencesBeginAsSentencesDo) {
  Document document("train", "Fashion-MNIST, 784-10-10, noise <b>");
  document.state(StatementKind::warning, "all noise comes from a seed.");
  document.state(StatementKind::warning,
                 say("{}: no guarantee.", GivenName{"isotropic_per_layer"}));
  document.state(StatementKind::assumption, say("the attacker sees {} once.", Maths{"S_1"}));
  document.state(StatementKind::assumption, say("{} = 1: nothing is proven.", Maths{"t"}));
  Report report{"Fashion-MNIST, 784-10-10, noise <b>", {document}, {}, ""};
  report.made = {{"SHA-256 of data/a_table.csv", "0123abcd"}};
  const std::string page = html_report(report);
  for (const char* part : {"</strong> All noise comes", "</strong> isotropic_per_layer: no",
                           "<li>The attacker sees <math><msub><mi>S</mi>", "<li>t = 1: nothing",
                           "<h1>Fashion-MNIST, 784-10-10, noise &lt;b&gt;</h1>",
                           "<dt>SHA-256</dt><dd>data/a_table.csv<br>0123abcd</dd>"}) {
    EXPECT_NE(page.find(part), std::string::npos) << part;
  }
}

TEST(HtmlReport, StatementsBeyondTheOverviewAreNotCounted) {
  Document overview("reproduce", "Overview"), beyond("reproduce", "Beyond");
  Table summary("summary", "S", {{"statement", "the paper says"}, {"verdict", "verdict"}});
  for (int i = 0; i < 7; ++i) summary.add_row({"said", i < 5 ? "holds" : "does not hold"});
  overview.add(summary);
  for (int i = 0; i < 9; ++i) beyond.state(StatementKind::verdict, "ours", Outcome::good);
  const std::string page = html_report({"T", {overview, beyond}});
  EXPECT_NE(page.find("<span class=\"count\">5</span>"), std::string::npos);
  EXPECT_NE(page.find("Of 7 statements"), std::string::npos);
}

TEST(HtmlFigure, SaysWhatItShowsAndWhenItCannotBeDrawn) {
  Figure figure("f", "KL over time", Mark::line, {"t", "s", Scale::log}, {"KL", "nats"});
  figure.add({.key = "a",
              .title = "bound",
              .x = {1, 2, 3},
              .y = {0.5, 0.25, 1.0},
              .claim = Claim::upper_bound});
  const std::string drawn = html_figure(figure, "id", "3", "0/1", true);
  for (const char* part :
       {"Figure 3.", "KL over time", "Horizontal: t (s), log scale.", "Vertical: KL (nats).",
        "3 points, 0.2500 to 1", "≤", "scripts are off"}) {
    EXPECT_NE(drawn.find(part), std::string::npos) << part;
  }
  EXPECT_EQ(drawn.find("without Node.js"), std::string::npos);
  const std::string missing = html_figure(figure, "id", "3", "0/1", false);
  EXPECT_NE(missing.find("built without Node.js"), std::string::npos);
}

TEST(HtmlReport, ThePageBeginsWithItsAbstract) {
  Document document("rows", "T");
  document.set_abstract({"weights", "Who is exposed?",
                         say("Row 383: right {} of the time.", Percent{"60.2"}), "", ""});
  const std::string page = html_report({"T", {document}});
  EXPECT_NE(page.find("<p class=\"lead\">Who is exposed?</p>"), std::string::npos);
  EXPECT_NE(page.find("right 60.2\u00a0% of the time"), std::string::npos);
  EXPECT_NE(page.find("<dt>Released</dt><dd>weights</dd>"), std::string::npos);
  EXPECT_EQ(html_report({"T", {Document("rows", "T")}}).find("class=\"lead\""), std::string::npos);
}

}  // namespace
}  // namespace sfumato
