#include "sfumato/data/keys/key.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "sfumato/core/error.hpp"

namespace sfumato {
namespace {

TEST(Setting, IsAPathAndAValue) {
  const TomlOverride found = setting_of(" d.start_mean = [1, 2]");
  EXPECT_EQ(found.path, (std::vector<std::string>{"d", "start_mean"}));
  EXPECT_EQ(found.value, "[1, 2]");
  EXPECT_EQ(setting_of("title=a=b").value, "a=b");
  for (const char* bad : {"d.A", "", "=3", "d.=3", "d..A=3"}) {
    EXPECT_THROW((void)setting_of(bad), InvalidArgument) << bad;
  }
}

TEST(LocatedKeys, AnErrorAtAKeyIsThrownWhereItsValueIs) {
  const TomlTable root = TomlTable::parse("title = \"t\"\n[risk]\ndeltas = [2]\n", "a.toml",
                                          {{{"flow", "times"}, "[-1]", "--times"}});
  const std::vector<KeyInfo> keys = {{"", "title", {}, "", "", false, ""},
                                     {"flow", "times", {}, "", "", false, ""},
                                     {"estimate", "step", {}, "", "", false, ""},
                                     {"risk", "delta", {"deltas"}, "", "", false, ""}};
  const auto place = [&](const Where& where) -> std::string {
    try {
      located_keys(root, keys, [&] { throw InvalidArgument("wrong", "", where); });
    } catch (const InvalidArgument& error) {
      return error.where().text();
    }
    return "";
  };
  EXPECT_EQ(place(Where::key("delta")), "a.toml:3:10");
  EXPECT_EQ(place(Where::key("title")), "a.toml:1:9");
  EXPECT_EQ(place(Where::key("times")), "--times");
  EXPECT_EQ(place(Where::key("step")), "step");  // not given
  EXPECT_EQ(place(Where::in("b.csv")), "b.csv");
  EXPECT_THROW(
      located_keys(root, keys, [] { throw NumericalFailure("no", "", Where::key("title")); }),
      NumericalFailure);
}

}  // namespace
}  // namespace sfumato
