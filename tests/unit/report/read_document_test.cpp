#include "sfumato/report/read_document.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "sfumato/core/error.hpp"
#include "sfumato/core/infinity.hpp"
#include "sfumato/report/json.hpp"
#include "sfumato/report/report.hpp"

namespace sfumato {
namespace {

/// A document with every kind of block, cell, mark and decoration.
Document everything() {
  Document document("rows", "Every \"kind\" <of> thing");
  document.add_provenance("seed", "1");
  document.set_abstract({"weights", "asked", "answered", "", "advice"});
  document.state(StatementKind::info, "said\nso");
  document.state(StatementKind::verdict, "yes", Outcome::good);
  document.state(StatementKind::summary, "end");
  Table table("t", "T",
              {{"a", "A", "nats", NumberStyle::probability, Align::left},
               {"b", "B", "", NumberStyle::general, Align::right},
               {"c", "C"}},
              2);
  table.add_row({"text", 7, Claimed<double>{0.1, Claim::lower_bound, "m", {"x", "y"}, 0.95}});
  table.add_row({0.1 + 0.2, -kInf, Claimed<double>{kInf, Claim::upper_bound}});
  table.add_row({Empty{}, Empty{"reason"}, std::numeric_limits<std::int64_t>::min()});
  document.add(table);
  for (const Mark mark : {Mark::line, Mark::points, Mark::bars}) {
    Figure figure(std::string(name(mark)), "F", mark, {"x", "u", Scale::log}, {"y"});
    figure.add(
        {.key = "s",
         .title = "S",
         .x = mark == Mark::bars ? std::vector<double>{0, 1, kInf} : std::vector<double>{1, 2},
         .y = {0.5, 1e-300},
         .claim = Claim::estimate,
         .method = "m",
         .confidence = 0.9});
    document.add(figure);
  }
  Figure columns("columns", "F", Mark::columns, {"layer", "", Scale::linear, {"a", "b"}}, {"y"});
  Series series{"s", "S", {0, 1}, {1, 2}};
  series.y_intervals = Intervals{{0, 1}, {1, kInf}};
  columns.add(series);
  columns.set_caption("shows");
  document.add(columns);
  Figure plane("plane", "F", Mark::plane, {"x"}, {"y"}, Axis{"z", "", Scale::log});
  plane.add({.key = "s", .title = "S", .x = {1}, .y = {2}, .z = {3}});
  Series best{"best", "B", {1}, {2}};
  best.mark = Mark::points;
  best.x_intervals = Intervals{{0}, {1}};
  best.labels = {"here"};
  plane.add(best);
  document.add(plane);
  Axis rate{"rate", "", Scale::log};
  rate.from = 0.005;
  rate.to = 1.0;
  Figure steps("steps", "F", Mark::steps, rate, {"y"});
  steps.add({.key = "s", .title = "S", .x = {0, 1}, .y = {0, 1}});
  Series allowed{"allowed", "A", {0, 1}, {0, 1}};
  allowed.mark = Mark::region;
  steps.add(allowed);
  steps.set_layout(Layout::multiples);
  document.add(steps);
  Figure image("image", "F", Mark::image, {"x"}, {"y"}, Axis{"z"});
  image.add({.key = "s", .title = "S", .x = {1}, .y = {2}, .z = {3}});
  document.add(image);
  return document;
}

std::string message_of(const std::string& json) {
  try {
    (void)read_document(json, "file.json");
  } catch (const InvalidArgument& error) {
    return error.what();
  }
  return "accepted";
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

TEST(ReadDocument, ResultsAndVerdictsComeBack) {
  Document document("any", "A");
  document.add(Result{"epsilon_lower",
                      {{"policy", "none"}, {"delta", 1e-5}},
                      Claimed<double>{1.5, Claim::lower_bound, "ranks", {"one"}, 0.95}});
  document.add(Result{"models", {}, 400});
  document.add(Result{"mu", {{"policy", "none"}}, Empty{"too few models"}});
  document.add_verdict({"none", "eps=1,delta=1e-05", Verdict::violated, 1.5, 2.4, 0.95});
  document.add_verdict({"", "the grid agrees", Verdict::open, {}, {}, {}});
  const std::string json = render_json(document);
  EXPECT_EQ(render_json(read_document(json, "a.json")), json);
  EXPECT_THROW(document.add_result("x", 1, {{"value", 2}}), InternalError);
}

TEST(ReadDocument, GivesTheSameBytesAgain) {
  const std::string json = render_json(everything());
  EXPECT_EQ(render_json(read_document(json, "file.json")), json);
}

TEST(ReadDocument, RefusesWithThePlace) {
  const std::string json = render_json(everything());
  const struct {
    std::string json, words;
  } cases[] = {
      {"", "not JSON"},
      {"[1]", "not a document"},
      {R"({"schema_version": 2, "blocks": []})", "schema_version is 2"},
      {R"({"schema_version": 1, "blocks": []})", "has no \""},
      {replaced(json, "\"outcome\": \"good\"", "\"outcome\": \"great\""), "blocks[1].outcome"},
      {replaced(json, "\"mark\": \"line\"", "\"mark\": \"spiral\""), "blocks[4].mark"},
      {replaced(json, "\"claim\": \"lower_bound\"", "\"claim\": \"sure\""),
       "blocks[3].rows[0].c.claim"},
      {replaced(json, "\"style\": \"probability\"", "\"style\": \"odd\""),
       "blocks[3].columns[0].style"},
      {replaced(json, "\"key_columns\": 2", "\"key_columns\": -1"), "blocks[3].key_columns"},
      {replaced(json, "\"seed\": \"1\"", "\"seed\": 1"), "provenance.seed"},
      {replaced(json, "\"scale\": \"log\"", "\"scale\": \"square\""), "blocks[4].axes.x.scale"},
      {replaced(json, "\"key\": \"points\"", "\"key\": \"line\""), "blocks[5] is inconsistent"},
      {replaced(json, "        \"x\": [\n            1.0,", "        \"x\": ["),
       "blocks[4] is inconsistent"},
      {replaced(json, "-9223372036854775808", "18446744073709551615"), "64 signed bits"},
  };
  for (const auto& bad : cases) {
    const std::string message = message_of(bad.json);
    EXPECT_NE(message.find(bad.words), std::string::npos) << bad.words << " not in: " << message;
    EXPECT_EQ(message.find("file.json"), 0u) << message;
  }
}

TEST(ReadReport, KeepsTitleEntriesAndChapters) {
  const Report report{"T",
                      {everything(), Document("audit", "B")},
                      {{"table1", R"({"paper":1})"}},
                      "2026-01-31 14:05 UTC",
                      {{"command line", "sfumato report"}, {"commit", "abc"}}};
  const std::string json = report_json(report);
  const Report back = read_report(json, "report.json");
  EXPECT_EQ(back.title, "T");
  EXPECT_EQ(back.written, "2026-01-31 14:05 UTC");
  EXPECT_EQ(back.chapters.size(), 2u);
  EXPECT_EQ(back.made, report.made);
  ASSERT_EQ(back.entries.size(), 1u);
  EXPECT_EQ(back.entries[0].first, "table1");
  EXPECT_EQ(report_json(back), json);
}

TEST(ReadReport, TakesOneDocumentAsTheOnlyChapter) {
  const Report report = read_report(render_json(everything()), "file.json");
  EXPECT_EQ(report.title, "Every \"kind\" <of> thing");
  EXPECT_EQ(report.chapters.size(), 1u);
}

TEST(ReadReport, Refuses) {
  EXPECT_THROW((void)read_report(R"({"chapters": []})", "f"), InvalidArgument);
  EXPECT_THROW((void)read_report(R"({"title": 1, "chapters": [1]})", "f"), InvalidArgument);
  EXPECT_THROW((void)read_report(R"({"title": "T", "chapters": [1]})", "f"), InvalidArgument);
  EXPECT_THROW((void)read_report(R"({"title": "T", "written": 1, "chapters": [1]})", "f"),
               InvalidArgument);
  EXPECT_THROW((void)read_report(R"({"title": "T", "made": 1, "chapters": [1]})", "f"),
               InvalidArgument);
  EXPECT_THROW((void)read_report(R"({"title": "T", "made": {"a": 1}, "chapters": [1]})", "f"),
               InvalidArgument);
  EXPECT_THROW((void)read_report("nothing", "f"), InvalidArgument);
  EXPECT_THROW((void)report_json({"T", {everything()}, {{"title", "1"}}}), InternalError);
}

TEST(ReadDocument, WhatIsWrongInAFileIsNoBugOfTheProgram) {
  const std::string json = replaced(render_json(everything()), "\"key\": \"b\"", "\"key\": \"a\"");
  const std::string message = message_of(json);
  EXPECT_NE(message.find("is inconsistent: "), std::string::npos) << message;
  EXPECT_NE(message.find("occurs twice. Pass the JSON output of a command"), std::string::npos)
      << message;
  EXPECT_EQ(message.find("bug"), std::string::npos) << message;
}

}  // namespace
}  // namespace sfumato
