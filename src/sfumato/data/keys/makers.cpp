#include "sfumato/data/keys/makers.hpp"

namespace sfumato::keys {

void refuse(const TomlTable& table, const std::string& key, const std::string& value,
            const std::string& expected) {
  throw InvalidArgument(fmt::format("{} = {} is not {}", table.label(key), value, expected),
                        fmt::format("Give {}", expected), table.where(key));
}

double checked_number(const TomlTable& table, const std::string& key, NumberCheck check) {
  const double value = table.number(key);
  if (const char* problem = check(value)) {
    throw InvalidArgument(fmt::format("{}: {} {}", table.label(key), value, problem), "Correct it",
                          table.where(key));
  }
  return value;
}

std::vector<double> checked_numbers(const TomlTable& table, const std::string& key,
                                    NumberCheck check) {
  const std::vector<double> values = table.numbers(key);
  for (const double value : values) {
    if (const char* problem = check(value)) {
      throw InvalidArgument(fmt::format("{}: {} {}", table.label(key), value, problem),
                            "Correct or remove it", table.where(key));
    }
  }
  return without_repeats(values);
}

std::vector<std::string> checked_texts(const TomlTable& table, const std::string& key) {
  std::vector<std::string> texts;
  for (const std::vector<std::string>& row : table.strings(key).rows) {
    if (row.size() != 1) refuse(table, key, "a list of lists", "a list of texts");
    texts.push_back(row.front());
  }
  return texts;
}

}  // namespace sfumato::keys
