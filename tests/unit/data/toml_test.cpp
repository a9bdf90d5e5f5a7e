#include "sfumato/data/toml.hpp"

#include <gtest/gtest.h>

#include "sfumato/core/infinity.hpp"
#include "sfumato/data/covariance_file.hpp"
#include "sfumato/data/npy.hpp"
#include "support/temp_dir.hpp"

namespace sfumato {
namespace {

TomlTable table(std::string_view text) { return TomlTable::parse(text, "p.toml"); }

/// The message with which `access` refuses the table.
template <class Access>
std::string refusal(std::string_view text, Access&& access) {
  return message_of<InvalidArgument>([&] { access(table(text)); });
}

TEST(Toml, TypedValues) {
  const TomlTable t = table(R"(
a = 1.5
b = 3
c = -inf
d = "text"
e = true
f = 1e6
[sub]
x = 2
)");
  EXPECT_EQ(t.number("a"), 1.5);
  EXPECT_EQ(t.number("b"), 3.0);
  EXPECT_EQ(t.number("c"), -kInf);
  EXPECT_EQ(t.integer("b"), 3);
  EXPECT_EQ(t.integer("f"), 1000000);
  EXPECT_EQ(t.string("d"), "text");
  EXPECT_TRUE(t.boolean("e"));
  EXPECT_EQ(t.table("sub").number("x"), 2.0);
  EXPECT_TRUE(t.has("sub"));
  EXPECT_FALSE(t.has("x"));
  EXPECT_EQ(t.keys(), (std::vector<std::string>{"a", "b", "c", "d", "e", "f", "sub"}));
  EXPECT_EQ(t.where("b").text(), "p.toml:3:5");
  EXPECT_EQ(t.table("sub").where("x").text(), "p.toml:9:5");
}

TEST(Toml, TablesOutliveTheirDocument) {
  const TomlTable sub = table("[s]\nx = [1, 2]\n").table("s");
  EXPECT_EQ(sub.numbers("x"), (std::vector<double>{1, 2}));
}

TEST(Toml, Lists) {
  const TomlTable t = table("times = [0, 0.5, inf]\none = 2\n");
  EXPECT_EQ(t.numbers("times"), (std::vector<double>{0, 0.5, kInf}));
  EXPECT_EQ(t.numbers("one"), (std::vector<double>{2}));
}

TEST(Toml, TextsInTheirShape) {
  const TomlTable t =
      TomlTable::parse("a = 'x'\nb = ['x', 'y']\nc = [['x', 'y'], ['z', 'w']]\n", "");
  EXPECT_EQ(t.strings("a").rank, 0);
  EXPECT_EQ(t.strings("a").rows[0][0], "x");
  EXPECT_EQ(t.strings("b").rank, 1);
  EXPECT_EQ(t.strings("b").rows[1][0], "y");
  EXPECT_EQ(t.strings("c").rank, 2);
  EXPECT_EQ(t.strings("c").rows[1], (std::vector<std::string>{"z", "w"}));
  const auto place = [](const char* text) {
    return refusal(text, [](const TomlTable& table) { (void)table.strings("a"); });
  };
  EXPECT_NE(place("a = [['x'], 'y']\n").find("p.toml:1:13: `a` is"), std::string::npos);
  EXPECT_NE(place("a = ['x', 1]\n").find("p.toml:1:11: `a` is an integer"), std::string::npos);
  EXPECT_NE(place("a = []\n").find("`a` is an empty list"), std::string::npos);
}

TEST(Toml, RefusalsCarryThePlace) {
  EXPECT_EQ(refusal("a = 1\nb = \"x\"\n", [](const TomlTable& t) { (void)t.number("b"); }),
            "p.toml:2:5: `b` is a string. Give a number.");
  EXPECT_EQ(refusal("[s]\nb = 1.5\n", [](const TomlTable& t) { (void)t.table("s").integer("b"); }),
            "p.toml:2:5: `s.b` = 1.5 is not an integer. Give a whole number.");
  EXPECT_EQ(refusal("a = nan\n", [](const TomlTable& t) { (void)t.number("a"); }),
            "p.toml:1:5: `a` = nan is not a number. Give a number.");
  EXPECT_EQ(refusal("a = true\n", [](const TomlTable& t) { (void)t.number("a"); }),
            "p.toml:1:5: `a` is a boolean. Give a number.");
  EXPECT_EQ(refusal("a = 1\n", [](const TomlTable& t) { (void)t.string("a"); }),
            "p.toml:1:5: `a` is an integer. Give a string in quotes.");
  EXPECT_EQ(refusal("a = 1\n", [](const TomlTable& t) { (void)t.boolean("a"); }),
            "p.toml:1:5: `a` is an integer. Give true or false.");
  EXPECT_EQ(refusal("a = 2024-01-01\n", [](const TomlTable& t) { (void)t.table("a"); }),
            "p.toml:1:5: `a` is a date or time. Give a table.");
  EXPECT_EQ(refusal("a = [1, 'x']\n", [](const TomlTable& t) { (void)t.numbers("a"); }),
            "p.toml:1:9: entry 2 of `a` is a string. Give a number.");
  EXPECT_EQ(refusal("a = []\n", [](const TomlTable& t) { (void)t.numbers("a"); }),
            "p.toml:1:5: `a` is an empty list. Give a list of numbers.");
  EXPECT_NE(refusal("\n[s]\n", [](const TomlTable& t) { (void)t.table("s").number("x"); })
                .find("p.toml:2:1: the key `s.x` is missing"),
            std::string::npos);
  EXPECT_NE(
      refusal("a = inf\n", [](const TomlTable& t) { (void)t.integer("a"); }).find("not an integer"),
      std::string::npos);
  EXPECT_NE(refusal("a = 1e17\n", [](const TomlTable& t) { (void)t.integer("a"); })
                .find("not an integer"),
            std::string::npos);
}

TEST(Toml, SyntaxErrorsCarryThePlace) {
  const auto parse = [](const TomlTable&) {};
  EXPECT_TRUE(refusal("a = 1\nb = = 2\n", parse).starts_with("p.toml:2:5: this is not TOML: "));
  EXPECT_TRUE(refusal("a = 1\na = 2\n", parse).starts_with("p.toml:2:"));
  EXPECT_TRUE(refusal("a = [1,\n", parse).starts_with("p.toml:"));
  EXPECT_NE(refusal("a = \"\xE9\"", parse), "no exception");
  EXPECT_NE(refusal("a = t\x02", parse).find("\\x02"), std::string::npos);  // escaped
}

TEST(Toml, CharactersBeyondAscii) {
  const TomlTable t = table(
      "\xEF\xBB\xBF\"cl\u00e9\" = \"\u20ac \U0001F600 \\u00e9\" # \u00e9\nm = "
      "\"\"\"\\\n\u00a7\"\"\"\n");
  EXPECT_EQ(t.keys(), (std::vector<std::string>{"cl\u00e9", "m"}));
  EXPECT_TRUE(t.has("cl\u00e9"));
  EXPECT_EQ(t.string("cl\u00e9"), "\u20ac \U0001F600 \u00e9");
  EXPECT_EQ(t.string("m"), "\u00a7");
  EXPECT_EQ(refusal("cl\u00e9 = 1", [](const TomlTable&) {}).substr(0, 28),
            "p.toml:1:3: this is not TOML");
  EXPECT_EQ(refusal("'\u00e9\u00e9' = 1", [](const TomlTable& x) { x.reject_unknown({"a"}); }),
            "p.toml:1:1: the key \"\u00e9\u00e9\" is unknown. Known keys: `a`.");
  EXPECT_EQ(refusal("'\u00e9\u00e9' = x", [](const TomlTable&) {}).substr(0, 13), "p.toml:1:8: t");
}

TEST(Toml, UnknownKeysSuggestTheNearest) {
  const std::vector<std::string> known = {"times", "Sigma"};
  const auto check = [&](const TomlTable& t) { t.reject_unknown(known); };
  EXPECT_NO_THROW(table("times = 1\n").reject_unknown(known));
  EXPECT_EQ(refusal("times = 1\n  tmies = 1\n", check),
            "p.toml:2:3: the key \"tmies\" is unknown. Did you mean `times`?");
  EXPECT_EQ(refusal("z = 1\na = 2\n", check),  // the first in the file, not in the alphabet
            "p.toml:1:1: the key \"z\" is unknown. Known keys: `times`, `Sigma`.");
  EXPECT_EQ(refusal("[s]\nq = 2\n", [](const TomlTable& t) { t.table("s").reject_unknown({}); }),
            "p.toml:2:1: the key \"s.q\" is unknown. There are no known keys.");
}

TEST(TomlArray, InlineForms) {
  const TomlTable t = table("n = 2\nv = [1, 2.5]\nm = [[1, 2, 3], [4, 5, 6]]\n");
  EXPECT_EQ(t.array("n").rank, 0);
  EXPECT_EQ(t.array("n").values(0, 0), 2.0);
  EXPECT_EQ(t.array("v").rank, 1);
  EXPECT_EQ(t.array("v").values, Eigen::Vector2d(1, 2.5));
  const ArrayValue m = t.array("m");
  Eigen::MatrixXd expected(2, 3);
  expected << 1, 2, 3, 4, 5, 6;
  EXPECT_EQ(m.rank, 2);
  EXPECT_EQ(m.values, expected);
  EXPECT_EQ(m.where.text(), "p.toml:3:5");
}

TEST(TomlArray, Refusals) {
  const auto access = [](const TomlTable& t) { (void)t.array("a"); };
  EXPECT_EQ(refusal("a = [[1, 2],\n [3]]\n", access),
            "p.toml:2:2: row 2 of `a` has 1 entries, but the first row has 2. Give rows of equal "
            "length.");
  EXPECT_EQ(refusal("a = [[1, 2], 3]\n", access),
            "p.toml:1:14: row 2 of `a` is an integer. Give a list of numbers.");
  EXPECT_EQ(refusal("a = [1, [2]]\n", access),
            "p.toml:1:9: entry 2 of `a` is a list. Give a finite number.");
  EXPECT_EQ(refusal("a = [1, inf]\n", access),
            "p.toml:1:9: entry 2 of `a` is infinite. Give a finite number.");
  EXPECT_EQ(refusal("a = [[nan]]\n", access),
            "p.toml:1:7: entry 1 of row 1 of `a` = nan is not a number. Give a finite number.");
  EXPECT_NE(refusal("a = [[]]\n", access).find("is an empty list"), std::string::npos);
  EXPECT_NE(refusal("a = true\n", access)
                .find("`a` is a boolean. Give a number, a list, a list of lists"),
            std::string::npos);
}

TEST(TomlArray, FilesAreRelativeToTheToml) {
  const TempDir dir;
  std::filesystem::create_directory(dir / "sub");
  put(dir / "sub/m.csv", "1,2\n3,4\n");
  put(dir / "sub/v.csv", "x\n1\n2\n");
  put(dir / "sub/row.csv", "1,2\n");
  write_npy(dir / "sub/m.NPY", matrix_array(Eigen::MatrixXd::Identity(2, 2)));
  write_npy(dir / "sub/bad.npy", vector_array(Eigen::Vector2d(1, kInf)));
  put(dir / "sub/p.toml",
      "csv = 'm.csv'\nvec = 'v.csv'\nrow = 'row.csv'\nnpy = 'm.NPY'\nbad = 'bad.npy'\nnone = "
      "'none.npy'\n"
      "text = 'm.txt'\nabs = '" +
          (dir / "sub/m.csv") + "'\n");
  const TomlTable t = TomlTable::read(dir / "sub/p.toml");
  EXPECT_EQ(t.array("csv").values(1, 0), 3.0);
  EXPECT_EQ(t.array("csv").rank, 2);
  EXPECT_EQ(t.array("abs").values(1, 0), 3.0);
  EXPECT_EQ(t.array("vec").rank, 1);
  EXPECT_EQ(t.array("vec").values, Eigen::Vector2d(1, 2));
  EXPECT_EQ(t.array("row").rank, 1);
  EXPECT_EQ(t.array("row").values, Eigen::Vector2d(1, 2));
  EXPECT_EQ(t.array("npy").values, Eigen::MatrixXd::Identity(2, 2));
  EXPECT_EQ(t.array("npy").where.text(),
            (dir / "sub/p.toml") + ":4:7 (" + (dir / "sub/m.NPY") + ")");
  const auto of = [&](const char* key) {
    return message_of<InvalidArgument>([&] { (void)t.array(key); });
  };
  EXPECT_EQ(of("bad"),
            (dir / "sub/bad.npy") +
                ": the array has inf in row 2, column 1. Every entry must be a finite number.");
  EXPECT_NE(of("none").find("none.npy: there is no such file"), std::string::npos);
  EXPECT_NE(of("text").find("is neither .csv nor .npy"), std::string::npos);
  EXPECT_NE(message_of<InvalidArgument>([&] {
              (void)TomlTable::read(dir / "none.toml");
            }).find("there is no such file"),
            std::string::npos);
}

TEST(TomlCovariance, FormsKeepTheirStructure) {
  const TomlTable t = table("a = 2\nb = [1, 3]\nc = [[2, 1], [1, 2]]\n");
  const Covariance number = t.covariance("a", 3);
  EXPECT_EQ(std::get<Isotropic>(number).variance, 2.0);
  EXPECT_EQ(dimension(number), 3);
  EXPECT_EQ(std::get<Diagonal>(t.covariance("b", 2)).variances, Eigen::Vector2d(1, 3));
  EXPECT_EQ(std::get<Dense>(t.covariance("c", 2)).matrix(0, 1), 1.0);
}

TEST(TomlCovariance, FilesAreRelativeToTheToml) {
  const TempDir dir;
  write_covariance(dir / "sigma.npz", {Factored{Eigen::Vector2d(1, 2), Eigen::Vector2d(3, 4)}});
  write_npy(dir / "sigma.npy", vector_array(Eigen::Vector2d(1, 2)));
  const TomlTable t = TomlTable::parse("a = 'sigma.npz'\nb = 'sigma.npy'", dir / "p.toml");
  EXPECT_TRUE(std::holds_alternative<Factored>(t.covariance("a", 2)));
  EXPECT_TRUE(std::holds_alternative<Diagonal>(t.covariance("b", 2)));
  EXPECT_THROW((void)t.covariance("a", 3), InvalidArgument);
}

TEST(TomlCovariance, Refusals) {
  const auto get = [](Eigen::Index d) {
    return [d](const TomlTable& t) { (void)t.covariance("s", d); };
  };
  EXPECT_EQ(refusal("s = [1, 2, 3]", get(2)),
            "p.toml:1:5: `s` has 3 entries, but the problem has 2 parameters. Give a number, one "
            "variance per parameter, or a square matrix.");
  EXPECT_NE(refusal("s = [[1, 2, 3]]", get(3)).find("`s` is 1 x 3"), std::string::npos);
  EXPECT_NE(refusal("s = [[1, 2], [2, 1]]", get(2)).find("eigenvalue is -1"), std::string::npos);
  EXPECT_NE(refusal("s = -1", get(2)).find("p.toml:1:5: `s` = -1"), std::string::npos);
  EXPECT_NE(refusal("x = 1", get(2)).find("`s` is missing"), std::string::npos);
}

TEST(Toml, RefusesKeysThatWouldOverflowTheStack) {
  std::string key = "a";
  for (int i = 0; i < 100000; ++i) key += ".a";
  EXPECT_THROW((void)TomlTable::parse("[" + key + "]\n", "deep.toml"), InvalidArgument);
  EXPECT_THROW((void)TomlTable::parse(key + " = 1\n", "deep.toml"), InvalidArgument);
  const std::string dots(500, '.');
  EXPECT_NO_THROW((void)TomlTable::parse("# " + dots + "\nt = \"" + dots + "\"\n", "d.toml"));
  std::string numbers = "x = [0.5";
  for (int i = 0; i < 5000; ++i) numbers += ", 0.5";
  EXPECT_EQ(TomlTable::parse(numbers + "]\n", "n.toml").numbers("x").size(), 5001u);
}

TEST(Toml, ListsOfTables) {
  const TomlTable t = table("[[n]]\nx = 1\n[[n]]\nx = \"two\"\n");
  const std::vector<TomlTable> entries = t.tables("n");
  ASSERT_EQ(entries.size(), 2U);
  EXPECT_EQ(entries[0].integer("x"), 1);
  EXPECT_TRUE(entries[1].is_string("x"));
  EXPECT_FALSE(entries[0].is_string("x"));
  const auto second = [](const TomlTable& root) { (void)root.tables("n")[1].number("x"); };
  EXPECT_NE(refusal("[[n]]\n[[n]]\nx = \"two\"\n", second).find("p.toml:3:5: `n.1.x` is a string"),
            std::string::npos);
  const auto list = [](const TomlTable& root) { (void)root.tables("n"); };
  EXPECT_NE(refusal("n = 1\n", list).find("`n` is an integer"), std::string::npos);
  EXPECT_NE(refusal("n = [1]\n", list).find("a list of tables"), std::string::npos);
}

TEST(Toml, OverridesTakeTheirPlace) {
  const auto with = [](TomlOverride override) {
    return TomlTable::parse("a = 1\n[t]\nold = 2\n[[n]]\nname = \"p\"\nx = 1\n[[n]]\nx = 2\n",
                            "d/p.toml", {override});
  };
  EXPECT_EQ(with({{"a"}, "5", "--set"}).integer("a"), 5);
  EXPECT_EQ(
      with({{"new", "sub", "key"}, "[1, 2]", "--set"}).table("new").table("sub").numbers("key"),
      (std::vector<double>{1, 2}));
  EXPECT_EQ(with({{"n", "p", "x"}, "7", "--set"}).tables("n")[0].integer("x"), 7);
  EXPECT_EQ(with({{"n", "1", "x"}, "7", "--set"}).tables("n")[1].integer("x"), 7);
  EXPECT_EQ(with({{"a"}, "word-1.0", "--set"}).string("a"), "word-1.0");
  EXPECT_EQ(with({{"a"}, "\"\u00fc\"", "--set"}).string("a"), "\u00fc");
  const TomlTable t =
      with({{"t", "key"}, "true", "--set t.key=true", {"name"}, {"old"}}).table("t");
  EXPECT_EQ(t.keys(), std::vector<std::string>{"key"});
  // Files are relative to the document, those of overrides to where the command runs.
  EXPECT_EQ(with({{"a"}, "'f.csv'", "--set"}).path("a"), "f.csv");
  EXPECT_EQ(TomlTable::parse("a = 'f.csv'", "d/p.toml").path("a"), "d/f.csv");
}

TEST(Toml, OverridesAreNamedInComplaints) {
  const auto refused = [](TomlOverride override) {
    return message_of<InvalidArgument>([&] {
      const TomlTable t = TomlTable::parse("a = 1\n[[n]]\nname = \"p\"\n", "p.toml", {override});
      t.reject_unknown({"a", "n"});
      (void)t.number("a");
    });
  };
  EXPECT_EQ(refused({{"a"}, "\"x\"", "--set a"}), "--set a: `a` is a string. Give a number.");
  EXPECT_NE(refused({{"b"}, "1", "--set b"}).find("--set b: the key \"b\" is unknown"),
            std::string::npos);
  EXPECT_NE(refused({{"a"}, "[1", "--set a"}).find("not a value"), std::string::npos);
  EXPECT_NE(refused({{"a"}, "1\nb = 2", "--set a"}).find("not a value"), std::string::npos);
  EXPECT_NE(refused({{"a", "b"}, "1", "--set a"}).find("`a` is an integer"), std::string::npos);
  EXPECT_NE(refused({{"n", "q", "x"}, "1", "--set"}).find("no entry \"q\""), std::string::npos);
  EXPECT_NE(refused({{"n", "x"}, "1", "--set"}).find("Name an entry"), std::string::npos);
  EXPECT_NE(refused({std::vector<std::string>(100, "a"), "1", "--set"}).find("100 parts"),
            std::string::npos);
}

}  // namespace
}  // namespace sfumato
