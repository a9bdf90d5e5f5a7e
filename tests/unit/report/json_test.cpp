#include "sfumato/report/json.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "sfumato/core/infinity.hpp"

namespace sfumato {
namespace {

TEST(RenderJson, Table) {
  Document document("rows", "Risk of rows");
  document.add_provenance("version", "0.1.0");
  document.add_provenance("checksum", "abc");
  Table table("risk", "Risk", {{"row", "row"}, {"kl", "KL", "nats"}, {"eps", "eps"}, {"id", "id"}});
  table.add_row({12, Claimed<double>{0.1, Claim::lower_bound, "audit", {"one", "two"}, 0.95}, 0.5,
                 "a\"b\n\x1b"});
  table.add_row({13, Claimed<double>{kInf, Claim::upper_bound}, -kInf, Empty{"does not apply"}});
  table.add_row({Empty{}, Empty{}, 2.0, Empty{}});
  document.add(table);
  document.state(StatementKind::warning, "careful");
  EXPECT_EQ(render_json(document), R"({
  "schema_version": 1,
  "command": "rows",
  "title": "Risk of rows",
  "provenance": {
    "version": "0.1.0",
    "checksum": "abc"
  },
  "results": [],
  "verdicts": [],
  "blocks": [
    {
      "type": "table",
      "key": "risk",
      "title": "Risk",
      "columns": [
        {
          "key": "row",
          "title": "row",
          "unit": ""
        },
        {
          "key": "kl",
          "title": "KL",
          "unit": "nats"
        },
        {
          "key": "eps",
          "title": "eps",
          "unit": ""
        },
        {
          "key": "id",
          "title": "id",
          "unit": ""
        }
      ],
      "rows": [
        {
          "row": 12,
          "kl": {
            "value": 0.1,
            "claim": "lower_bound",
            "symbol": ">=",
            "method": "audit",
            "assumptions": [
              "one",
              "two"
            ],
            "confidence": 0.95
          },
          "eps": 0.5,
          "id": "a\"b\n\u001b"
        },
        {
          "row": 13,
          "kl": {
            "value": "inf",
            "claim": "upper_bound",
            "symbol": "<=",
            "method": "",
            "assumptions": [],
            "confidence": null
          },
          "eps": "-inf",
          "id": {
            "value": null,
            "reason": "does not apply"
          }
        },
        {
          "row": null,
          "kl": null,
          "eps": 2.0,
          "id": null
        }
      ]
    },
    {
      "type": "statement",
      "kind": "warning",
      "text": "careful"
    }
  ]
}
)");
}

TEST(RenderJson, Figure) {
  Document document("x", "X");
  Figure figure("f", "F", Mark::plane, {"x", "s", Scale::log}, {"y"}, Axis{"z"});
  figure.add({.key = "s", .title = "S", .x = {1}, .y = {2}, .z = {kInf}, .claim = Claim::estimate});
  document.add(figure);
  const std::string json = render_json(document);
  const auto has = [&](const char* part) { return json.find(part) != std::string::npos; };
  EXPECT_TRUE(has("\"mark\": \"plane\""));
  EXPECT_TRUE(
      has("\"x\": {\n          \"title\": \"x\",\n          \"unit\": \"s\",\n"
          "          \"scale\": \"log\"\n        }"));
  EXPECT_TRUE(has("\"symbol\": \"~\""));
  EXPECT_TRUE(has("\"z\": [\n            \"inf\"\n          ]"));
}

TEST(RenderJson, EmptyDocumentAndTable) {
  Document document("x", "X");
  document.add(Table("t", "T", {{"a", "A"}}));
  const std::string json = render_json(document);
  EXPECT_NE(json.find("\"provenance\": {},"), std::string::npos);
  EXPECT_NE(json.find("\"rows\": []"), std::string::npos);
}

TEST(RenderJson, DoublesReadBack) {
  Document document("x", "X");
  Table table("t", "T", {{"a", "A"}});
  table.add_row({0.1 + 0.2});
  table.add_row({std::numeric_limits<double>::denorm_min()});
  document.add(table);
  const std::string json = render_json(document);
  EXPECT_NE(json.find("\"a\": 0.30000000000000004"), std::string::npos);
  EXPECT_NE(json.find("\"a\": 5e-324"), std::string::npos);
}

TEST(RenderJson, BytesThatAreNotUtf8) {
  Document document("x", "caf\xe9");
  EXPECT_NE(render_json(document).find("caf\uFFFD"), std::string::npos);
}

}  // namespace
}  // namespace sfumato
