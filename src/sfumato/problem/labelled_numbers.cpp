#include "sfumato/problem/labelled_numbers.hpp"

#include <fmt/format.h>

namespace sfumato {

double labelled_number(const TomlTable& table, const char* key, const std::string& label,
                       NumberCheck check) {
  const double value = table.number(key);
  if (const char* problem = check(value)) {
    throw InvalidArgument(fmt::format("`{}`: {} {}", label, value, problem), "Correct it",
                          table.where(key));
  }
  return value;
}

std::vector<double> labelled_list(const TomlTable& table, const char* key, const std::string& label,
                                  NumberCheck check) {
  std::vector<double> values = table.numbers(key);
  for (const double value : values) {
    if (const char* problem = check(value)) {
      throw InvalidArgument(fmt::format("`{}`: {} {}", label, value, problem),
                            "Correct or remove it", table.where(key));
    }
  }
  return values;
}

}  // namespace sfumato
