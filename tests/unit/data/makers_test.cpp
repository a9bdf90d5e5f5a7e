#include "sfumato/data/keys/makers.hpp"

#include <gtest/gtest.h>

#include "sfumato/core/error.hpp"
#include "support/temp_dir.hpp"

namespace sfumato {
namespace {

using namespace keys;

enum class Colour { red, green };
std::string_view name(Colour colour) { return colour == Colour::red ? "red" : "green"; }

struct Asked {
  std::string text = {};
  double number = 0.5;
  std::optional<double> maybe = {};
  int count = 3;
  std::optional<std::uint64_t> perhaps = {};
  bool flag = false;
  Colour colour = Colour::red;
  std::vector<double> numbers = {};
  std::vector<std::string> texts = {};
};

const char* not_below_ten(double x) { return x < 10.0 ? nullptr : "is not below ten"; }

const Keys<Asked>& all() {
  static const Keys<Asked> keys = {
      text_key("text", "text", "", &Asked::text),
      number_key("number", "number", "", &Asked::number, not_below_ten),
      number_key("maybe", "number", "", &Asked::maybe, not_below_ten),
      integer_key("count", "", &Asked::count, 1, 9),
      integer_key("perhaps", "", &Asked::perhaps, 0),
      flag_key("flag", "", &Asked::flag),
      keys::with(choice_key("colour", "", &Asked::colour, by_name({Colour::red, Colour::green})),
                 {"color"}),
      numbers_key("numbers", "numbers", "", &Asked::numbers, not_below_ten),
      texts_key("texts", "texts", "", &Asked::texts)};
  return keys;
}

Asked read(const std::string& text) {
  Asked asked;
  read_keys(asked, TomlTable::parse(text, "q.toml"), all());
  return asked;
}

TEST(KeyMakers, ReadWhatTheyWrite) {
  const std::string text =
      "text = \"a\\\"b\"\nnumber = 0.25\nmaybe = 2\ncount = 7\nperhaps = 12\nflag = true\ncolour = "
      "\"green\"\nnumbers = [1, 2.5]\ntexts = [\"x\", \"y\"]\n";
  const Asked asked = read(text);
  EXPECT_EQ(asked.text, "a\"b");
  EXPECT_EQ(asked.maybe, 2.0);
  EXPECT_EQ(asked.perhaps, 12U);
  EXPECT_EQ(asked.colour, Colour::green);
  EXPECT_EQ(asked.numbers, (std::vector{1.0, 2.5}));
  const std::string written = write_keys(asked, all());
  EXPECT_EQ(write_keys(read(written), all()), written);
}

TEST(KeyMakers, LeaveOutWhatIsNotSet) {
  EXPECT_EQ(write_keys(Asked{}, all()),
            "number = 0.5\ncount = 3\nflag = false\ncolour = \"red\"\n");
  EXPECT_EQ(read("color = \"green\"\n").colour, Colour::green);
}

TEST(KeyMakers, RefuseWithThePlaceAndWhatIsExpected) {
  const auto refused = [](const std::string& text, const std::string& part) {
    const std::string message = message_of<InvalidArgument>([&] { (void)read(text); });
    EXPECT_NE(message.find("q.toml:1"), std::string::npos) << message;
    EXPECT_NE(message.find(part), std::string::npos) << message;
  };
  refused("number = 11\n", "is not below ten");
  refused("maybe = 11\n", "is not below ten");
  refused("count = 0\n", "an integer from 1 to 9");
  refused("count = 10\n", "an integer from 1 to 9");
  refused("colour = \"gren\"\n", "green");
  refused("numbers = [1, 12]\n", "is not below ten");
  refused("flag = 1\n", "flag");
}

}  // namespace
}  // namespace sfumato
