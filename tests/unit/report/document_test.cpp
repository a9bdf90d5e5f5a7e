#include "sfumato/report/document.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>

#include "sfumato/core/error.hpp"

namespace sfumato {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

TEST(Cell, KeepsWhatItIsGiven) {
  EXPECT_EQ(std::get<std::string>(Cell("text").content()), "text");
  EXPECT_EQ(std::get<std::int64_t>(Cell(7).content()), 7);
  EXPECT_EQ(std::get<std::int64_t>(Cell(std::size_t{7}).content()), 7);
  EXPECT_EQ(std::get<double>(Cell(0.5).content()), 0.5);
  EXPECT_EQ(std::get<Empty>(Cell(Empty{"why"}).content()).reason, "why");
  const Cell kl = Claimed<Nats>{Nats(0.5), Claim::upper_bound, "m"};
  EXPECT_EQ(std::get<Claimed<double>>(kl.content()).value, 0.5);
  EXPECT_EQ(std::get<Claimed<double>>(kl.content()).claim, Claim::upper_bound);
  EXPECT_EQ(std::get<Claimed<double>>(Cell(Claimed<Epsilon>{Epsilon(2.0)}).content()).value, 2.0);
  EXPECT_EQ(std::get<Claimed<double>>(Cell(Claimed<Delta>{Delta(0.1)}).content()).value, 0.1);
}

TEST(Cell, RefusesNaNAndIntegersThatDoNotFit) {
  EXPECT_THROW(Cell{kNan}, InternalError);
  EXPECT_THROW((Cell{Claimed<double>{kNan}}), InternalError);
  EXPECT_THROW(Cell{std::numeric_limits<std::uint64_t>::max()}, InternalError);
}

TEST(Table, ChecksColumnsAndRows) {
  EXPECT_THROW(Table("t", "T", {}), InternalError);
  EXPECT_THROW(Table("t", "T", {{"a", "A"}, {"a", "B"}}), InternalError);
  EXPECT_THROW(Table("t", "T", {{"", "A"}}), InternalError);
  Table table("t", "T", {{"a", "A"}, {"b", "B"}});
  EXPECT_THROW(table.add_row({1}), InternalError);
  EXPECT_THROW(table.add_row({1, 2, 3}), InternalError);
  table.add_row({"x", "y"});
  EXPECT_EQ(table.rows().size(), 1u);
  EXPECT_EQ(std::get<std::string>(table.rows()[0][1].content()), "y");
}

TEST(Figure, ChecksSeries) {
  Figure line("f", "F", Mark::line, {"x"}, {"y"});
  line.add({.key = "a", .title = "A", .x = {1, 2}, .y = {3, 4}});
  EXPECT_THROW(line.add({.key = "a", .title = "again", .x = {1}, .y = {2}}), InternalError);
  EXPECT_THROW(line.add({.key = "", .title = "", .x = {1}, .y = {2}}), InternalError);
  EXPECT_THROW(line.add({.key = "b", .title = "", .x = {1}, .y = {2, 3}}), InternalError);
  EXPECT_THROW(line.add({.key = "b", .title = "", .x = {1}, .y = {2}, .z = {3}}), InternalError);
  EXPECT_THROW(line.add({.key = "b", .title = "", .x = {1}, .y = {kNan}}), InternalError);
  EXPECT_EQ(line.series().size(), 1u);

  Figure bars("f", "F", Mark::bars, {"x"}, {"count"});
  bars.add({.key = "a", .title = "", .x = {0, 1, 2}, .y = {5, 6}});
  EXPECT_THROW(bars.add({.key = "b", .title = "", .x = {0, 1}, .y = {5, 6}}), InternalError);
  EXPECT_THROW(bars.add({.key = "b", .title = "", .x = {0, 1, 1}, .y = {5, 6}}), InternalError);

  Figure plane("f", "F", Mark::plane, {"x"}, {"y"}, Axis{"z"});
  plane.add({.key = "a", .title = "", .x = {1}, .y = {2}, .z = {3}});
  EXPECT_THROW(plane.add({.key = "b", .title = "", .x = {1}, .y = {2}}), InternalError);
  EXPECT_THROW(Figure("f", "F", Mark::plane, {"x"}, {"y"}), InternalError);
  EXPECT_THROW(Figure("f", "F", Mark::line, {"x"}, {"y"}, Axis{"z"}), InternalError);
}

TEST(Document, KeysAreUnique) {
  Document document("test", "A test");
  document.add(Table("a", "T", {{"x", "X"}}));
  EXPECT_THROW(document.add(Table("a", "T", {{"x", "X"}})), InternalError);
  EXPECT_THROW(document.add(Figure("a", "F", Mark::line, {"x"}, {"y"})), InternalError);
  EXPECT_THROW(document.add(Table("", "T", {{"x", "X"}})), InternalError);
  document.add(Figure("b", "F", Mark::line, {"x"}, {"y"}));
  document.state(StatementKind::info, "one");
  document.state(StatementKind::info, "one");
  EXPECT_EQ(document.blocks().size(), 4u);
  document.add_provenance("seed", "1");
  EXPECT_THROW(document.add_provenance("seed", "2"), InternalError);
}

TEST(StatementKind, Names) {
  EXPECT_EQ(name(StatementKind::info), "info");
  EXPECT_EQ(name(StatementKind::warning), "warning");
  EXPECT_EQ(name(StatementKind::assumption), "assumption");
  EXPECT_EQ(name(StatementKind::verdict), "verdict");
  EXPECT_EQ(name(StatementKind::summary), "summary");
}

TEST(Figure, ChecksWhatIsDrawnOver) {
  Figure plane("f", "F", Mark::plane, {"x"}, {"y"}, Axis{"z"});
  Series points{"points", "", {1}, {2}};
  EXPECT_THROW(plane.add(points), InternalError);  // a plane has z
  points.mark = Mark::points;
  plane.add(points);
  Series with_z{"with_z", "", {1}, {2}, {3}};
  with_z.mark = Mark::points;
  plane.add(with_z);
  Series bars{"bars", "", {0, 1}, {2}};
  bars.mark = Mark::bars;
  EXPECT_THROW(plane.add(bars), InternalError);
  EXPECT_EQ(plane.series().size(), 2u);
  EXPECT_EQ(plane.mark_of(plane.series()[0]), Mark::points);

  EXPECT_THROW(Figure("f", "F", Mark::image, {"x"}, {"y"}), InternalError);
  EXPECT_THROW(Figure("f", "F", Mark::columns, {"x"}, {"y"}), InternalError);
}

TEST(Figure, StepsAndRegionsAreCurves) {
  Figure line("f", "F", Mark::line, {"x"}, {"y"});
  for (const Mark mark : {Mark::steps, Mark::region, Mark::points}) {
    Series series{std::string(name(mark)), "", {1}, {2}};
    series.mark = mark;
    line.add(series);
  }
  line.set_layout(Layout::multiples);
  Figure bars("f", "F", Mark::bars, {"x"}, {"count"});
  EXPECT_THROW(bars.set_layout(Layout::multiples), InternalError);
  Figure plane("f", "F", Mark::plane, {"x"}, {"y"}, Axis{"z"});
  Series region{"region", "", {1}, {2}};
  region.mark = Mark::region;
  EXPECT_THROW(plane.add(region), InternalError);
}

TEST(Figure, ChecksCategoriesIntervalsAndLabels) {
  Figure columns("f", "F", Mark::columns, {"layer", "", Scale::linear, {"a", "b"}}, {"share"});
  EXPECT_THROW(columns.add({.key = "s", .title = "", .x = {2}, .y = {1}}), InternalError);
  EXPECT_THROW(columns.add({.key = "s", .title = "", .x = {0.5}, .y = {1}}), InternalError);
  EXPECT_THROW(columns.add({.key = "s", .title = "", .x = {-1}, .y = {1}}), InternalError);
  Series series{"s", "", {0, 1}, {1, 2}};
  series.y_intervals = Intervals{{0, 3}, {1, 2}};
  EXPECT_THROW(columns.add(series), InternalError);
  series.y_intervals = Intervals{{0, kNan}, {1, 2}};
  EXPECT_THROW(columns.add(series), InternalError);
  series.y_intervals = Intervals{{0}, {1}};
  EXPECT_THROW(columns.add(series), InternalError);
  series.y_intervals = Intervals{{0, 1}, {1, 2}};
  series.labels = {"only one"};
  EXPECT_THROW(columns.add(series), InternalError);
  series.labels = {"one", "two"};
  columns.add(series);
}

}  // namespace
}  // namespace sfumato
