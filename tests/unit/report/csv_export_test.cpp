#include "sfumato/report/csv_export.hpp"

#include <gtest/gtest.h>

#include "sfumato/core/infinity.hpp"

namespace sfumato {
namespace {

TEST(ToCsv, Table) {
  Table table("t", "T", {{"name", "Name"}, {"a,b", "AB"}, {"v", "V", "nats"}});
  table.add_row({"plain", 3, 0.1 + 0.2});
  table.add_row({"say \"hi\", or\nnot", Empty{"why"}, Claimed<double>{kInf, Claim::upper_bound}});
  table.add_row({"", -kInf, 1e-300});
  EXPECT_EQ(to_csv(table),
            "name,\"a,b\",v\n"
            "plain,3,0.30000000000000004\n"
            "\"say \"\"hi\"\", or\nnot\",,inf\n"
            ",-inf,1e-300\n");
}

TEST(ToCsv, EmptyTableHasItsHeader) {
  EXPECT_EQ(to_csv(Table("t", "T", {{"a", "A"}, {"b", "B"}})), "a,b\n");
}

TEST(ToCsv, Figures) {
  Figure line("f", "F", Mark::line, {"x"}, {"y"});
  line.add({.key = "a", .title = "A", .x = {1, 2}, .y = {0.5, kInf}});
  line.add({.key = "b", .title = "B", .x = {1}, .y = {-1}});
  EXPECT_EQ(to_csv(line), "series,x,y\na,1,0.5\na,2,inf\nb,1,-1\n");

  Figure bars("f", "F", Mark::bars, {"x"}, {"count"});
  bars.add({.key = "n", .title = "N", .x = {0, 1, kInf}, .y = {5, 6}});
  EXPECT_EQ(to_csv(bars), "series,lower,upper,height\nn,0,1,5\nn,1,inf,6\n");

  Figure plane("f", "F", Mark::plane, {"x"}, {"y"}, Axis{"z"});
  plane.add({.key = "p", .title = "P", .x = {1}, .y = {2}, .z = {3}});
  EXPECT_EQ(to_csv(plane), "series,x,y,z\np,1,2,3\n");
}

TEST(ToCsv, CategoriesIntervalsAndLabels) {
  Figure layers("layers", "", Mark::columns, {"layer", "", Scale::linear, {"fc1", "a, b"}},
                {"share"});
  Series series{"all", "", {0, 1}, {0.25, 0.75}};
  series.y_intervals = Intervals{{0.2, 0.7}, {0.3, 0.8}};
  layers.add(series);
  EXPECT_EQ(to_csv(layers),
            "series,x,y,y_low,y_high\nall,fc1,0.25,0.2,0.3\nall,\"a, b\",0.75,0.7,0.8\n");

  Figure plane("plane", "", Mark::plane, {"x"}, {"y"}, Axis{"z"});
  plane.add({.key = "field", .title = "", .x = {1}, .y = {2}, .z = {3}});
  Series best{"best", "", {4}, {5}};
  best.mark = Mark::points;
  best.labels = {"here"};
  plane.add(best);
  EXPECT_EQ(to_csv(plane), "series,x,y,z,label\nfield,1,2,3,\nbest,4,5,,here\n");
}

}  // namespace
}  // namespace sfumato
