#include "sfumato/report/quantities.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "sfumato/core/error.hpp"
#include "sfumato/report/document.hpp"

namespace sfumato {
namespace {

std::string in_a_table(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '|') escaped += '\\';
    escaped += c;
  }
  return escaped;
}

std::string as_code(std::string_view name) {
  return name.empty() ? std::string() : "`" + std::string(name) + "`";
}

/// The row of docs/json.md that describes a number.
std::string reference(const Quantity& of) {
  std::string row = "|";
  for (const std::string& cell : {std::string(of.command), as_code(of.name), as_code(of.attribute),
                                  in_a_table(of.of), in_a_table(of.meaning)}) {
    row += " " + cell + " |";
  }
  return row;
}

/// The rows of the table below "The numbers of each command".
std::vector<std::string> documented() {
  const std::string source = SFUMATO_SOURCE_DIR "/docs/json.md";
  std::ifstream file(source);
  EXPECT_TRUE(file.good()) << source;
  std::vector<std::string> rows;
  bool here = false;
  for (std::string line; std::getline(file, line);) {
    if (line.rfind("## ", 0) == 0) here = line == "## The numbers of each command";
    if (here && line.rfind("| ", 0) == 0) rows.push_back(line);
  }
  if (rows.size() < 2)
    throw InvalidArgument("has no table of numbers", "Look at the heading", Where::in(source));
  rows.erase(rows.begin(), rows.begin() + 2);  // its head
  return rows;
}

TEST(Quantities, TheReferenceSaysAllThatTheListSays) {
  std::vector<std::string> listed;
  std::string table;
  for (const Quantity& quantity : all_quantities()) {
    listed.push_back(reference(quantity));
    table += listed.back() + "\n";
  }
  EXPECT_EQ(documented(), listed) << "the table of docs/json.md:\n" << table;
}

TEST(Quantities, AreDescribedOnceAndInOnePiecePerCommand) {
  std::set<std::pair<std::string_view, std::string_view>> names;
  std::set<std::string_view> before;
  std::string_view command;
  for (const Quantity& quantity : all_quantities()) {
    EXPECT_TRUE(names.emplace(quantity.command, quantity.name).second) << quantity.name;
    EXPECT_FALSE(quantity.meaning.empty()) << quantity.name;
    if (quantity.command == command) continue;
    EXPECT_TRUE(before.insert(quantity.command).second) << quantity.command;
    command = quantity.command;
  }
}

TEST(Quantities, NoCommandHasNumbersThatAreNotDescribed) {
  for (const char* command : {"audit", "train", "study plan", "verify", "a new command"}) {
    EXPECT_FALSE(is_quantity(command, "surprise")) << command;
    Document document(command, "T");
    EXPECT_THROW(document.add_result("surprise", 1), InternalError) << command;
  }
  EXPECT_TRUE(is_quantity("train", "path_kl"));
  EXPECT_TRUE(is_quantity("account", "tpr_at_0.01"));
  EXPECT_FALSE(is_quantity("account", "delta_at_1"));
}

}  // namespace
}  // namespace sfumato
