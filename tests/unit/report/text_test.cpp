#include "sfumato/report/text.hpp"

#include <gtest/gtest.h>

#include "sfumato/core/infinity.hpp"
#include "sfumato/report/histogram.hpp"

namespace sfumato {
namespace {

TEST(RenderText, TableWithClaimsAndNotes) {
  Document document("quadratic", "Two quadratic flows");
  Table table("kl", "Divergence over time",
              {{"time", "time", "s"},
               {"kl", "KL(D‖D')", "nats"},
               {"delta", "delta", "", NumberStyle::probability},
               {"note", "note"}});
  const auto kl = [](double value) { return Claimed<double>{value, Claim::exact, "closed form"}; };
  table.add_row({0.0, kl(0.0),
                 Claimed<double>{0.25, Claim::upper_bound, "path bound", {"common start"}},
                 "start"});
  table.add_row(
      {2.5, kl(0.123456), Claimed<double>{1.0 - 3e-9, Claim::lower_bound, "audit", {}, 0.95}, "b"});
  table.add_row({kInf, kl(kInf), Empty{"does not apply: D' is singular"}, Empty{}});
  document.add(table);
  EXPECT_EQ(render_text(document),
            "Two quadratic flows\n"
            "===================\n"
            "\n"
            "Divergence over time\n"
            "time  KL(D‖D') [1]              delta  note\n"
            " (s)        (nats)\n"
            "----  ------------  -----------------  -----\n"
            "   0           = 0      <= 0.2500 [2]  start\n"
            " 2.5      = 0.1235  >= 1 - 3.1e-9 [3]  b\n"
            " inf         = inf              - [4]  -\n"
            "[1] closed form\n"
            "[2] path bound; assumes: common start\n"
            "[3] audit; confidence 0.95\n"
            "[4] does not apply: D' is singular\n");
}

TEST(RenderText, EmptyTable) {
  Document document("x", "X");
  document.add(Table("t", "Nothing", {{"a", "alpha"}, {"b", "b", "nats"}}));
  EXPECT_EQ(render_text(document),
            "X\n=\n\nNothing\nalpha  b\n       (nats)\n-----  ------\n(no rows)\n");
}

TEST(RenderText, WideTableIsPrintedInParts) {
  Document document("x", "X");
  Table table("t", "T", {{"i", "i"}, {"a", "aaaaaaaaaa"}, {"b", "bbbbbbbbbb"}, {"c", "cc"}});
  table.add_row({1, 2, 3, 4});
  document.add(table);
  EXPECT_EQ(render_text(document, {20}),
            "X\n=\n\nT\n"
            "i  aaaaaaaaaa\n"
            "-  ----------\n"
            "1           2\n"
            "\n"
            "i  bbbbbbbbbb  cc\n"
            "-  ----------  --\n"
            "1           3   4\n");
}

TEST(RenderText, StatementsProvenanceAndSummaryLast) {
  Document document("x", "X");
  document.state(StatementKind::summary, "3 passed, 0 failed, 0 skipped");
  document.state(StatementKind::info, "plain");
  document.state(StatementKind::warning, "a long warning that has to be wrapped");
  document.state(StatementKind::assumption, "this");
  document.state(StatementKind::verdict, "NOT REFUTED");
  document.add_provenance("version", "0.1.0");
  document.add_provenance("seed", "7");
  EXPECT_EQ(render_text(document, {30}),
            "X\n=\n\n"
            "plain\n"
            "Warning: a long warning that\n"
            "         has to be wrapped\n"
            "Assumes: this\n"
            "Verdict: NOT REFUTED\n"
            "\n"
            "version  0.1.0\n"
            "seed     7\n"
            "\n"
            "3 passed, 0 failed, 0 skipped\n");
}

TEST(RenderText, NewInformationAfterAVerdictStandsApart) {
  Document document("x", "X");
  document.state(StatementKind::verdict, "NOT REFUTED");
  document.state(StatementKind::verdict, "FAIL");
  document.state(StatementKind::info, "next part");
  EXPECT_EQ(render_text(document, {30}),
            "X\n=\n\n"
            "Verdict: NOT REFUTED\n"
            "Verdict: FAIL\n"
            "\n"
            "next part\n");
}

TEST(RenderText, UserNamesCannotControlTheTerminal) {
  Document document("x", "title \x1b[2J");
  Table table("t", "table \x1b", {{"a", "column \x1b"}});
  table.add_row({"cell \x1b"});
  table.add_row({Claimed<double>{1.0, Claim::exact, "method \x1b", {"assumption \x1b"}}});
  table.add_row({Empty{"reason \x1b"}});
  document.add(table);
  document.state(StatementKind::warning, "column 'a\nb\x1b' is constant");
  document.state(StatementKind::summary, "sum \x1b");
  Figure figure("f", "figure \x1b", Mark::line, {"x \x1b", "\x1b"}, {"y"});
  figure.add({.key = "s", .title = "series \x1b", .x = {}, .y = {}});
  document.add(figure);
  document.add_provenance("file \x1b", "value \x1b");
  const std::string text = render_text(document);
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  EXPECT_NE(text.find("Warning: column 'a b\\x1b' is constant\n"), std::string::npos);
}

TEST(RenderText, FiguresAreNamedWithTheWayToSeeThem) {
  Document document("x", "X");
  Figure figure("f", "Trade-off", Mark::line, {"false positives", "", Scale::log},
                {"true positives"});
  figure.add({.key = "a", .title = "bound", .x = {0, 1}, .y = {0, 1}, .claim = Claim::upper_bound});
  figure.add({.key = "b", .title = "audit", .x = {0}, .y = {0}, .claim = Claim::lower_bound});
  document.add(figure);
  EXPECT_EQ(render_text(document),
            "X\n=\n\n"
            "Figures: Trade-off (--report FILE.html draws it)\n");
  document.add(Figure("g", "ROC", Mark::points, {"x"}, {"y"}));
  EXPECT_EQ(render_text(document),
            "X\n=\n\n"
            "Figures: Trade-off; ROC (--report FILE.html draws them)\n");
}

TEST(RenderText, VerdictsHaveColoursWhereTheyAreSeen) {
  Document document("x", "X");
  document.state(StatementKind::verdict, say("{} of eps = 1", VerdictWord{"VIOLATION"}),
                 Outcome::bad);
  document.state(StatementKind::verdict, say("{} so far", VerdictWord{"NOT REFUTED"}),
                 Outcome::good);
  document.state(StatementKind::verdict, "AUC is no verdict", Outcome::open);
  document.state(StatementKind::warning, "careful");
  EXPECT_EQ(render_text(document).find('\x1b'), std::string::npos);
  EXPECT_EQ(render_text(document, {80, true}),
            "X\n=\n\n"
            "Verdict: \x1b[1;31mVIOLATION\x1b[0m of eps = 1\n"
            "Verdict: \x1b[1;32mNOT REFUTED\x1b[0m so far\n"
            "Verdict: \x1b[1;33mAUC is no verdict\x1b[0m\n"
            "\x1b[33mWarning: \x1b[0mcareful\n");
}

TEST(RenderText, HistogramBars) {
  Document document("x", "X");
  Figure figure("h", "Risk of 151 rows", Mark::bars, {"KL", "nats", Scale::log}, {"rows"});
  figure.add({.key = "count", .title = "rows", .x = {0, 1e-5, 0.1, 1, kInf}, .y = {0, 100, 50, 1}});
  document.add(figure);
  EXPECT_EQ(render_text(document),
            "X\n=\n\n"
            "Risk of 151 rows\n"
            "KL (nats), log scale against rows\n"
            "[   0, 1e-5)    0\n"
            "[1e-5,  0.1)  100  ##################################################\n"
            "[ 0.1,    1)   50  #########################\n"
            "[   1,  inf]    1  #\n");
}

TEST(RenderText, EmptyHistogram) {
  Document document("x", "X");
  document.add(histogram("h", "Nothing", {"KL"}, {}));
  EXPECT_EQ(render_text(document), "X\n=\n\nNothing\nKL against count\n(no values)\n");
}

}  // namespace
}  // namespace sfumato
