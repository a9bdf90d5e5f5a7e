#include "list_option.hpp"

#include <fmt/format.h>

#include <limits>
#include <string_view>

#include "sfumato/core/error.hpp"
#include "sfumato/data/text.hpp"

namespace sfumato::cli {
namespace {

/// "--epsilons,--epsilon" is called by its first name.
std::string first_of(const std::string& names) { return names.substr(0, names.find(',')); }

}  // namespace

std::vector<std::string> split_option(const std::string& option,
                                      const std::vector<std::string>& given) {
  std::vector<std::string> items;
  for (const std::string& text : given) {
    std::string_view rest = text;
    while (true) {
      const std::size_t comma = rest.find(',');
      const std::string_view item = trimmed(rest.substr(0, comma));
      if (item.empty()) {
        throw InvalidArgument(fmt::format("{} has an empty item", shown(text)),
                              "Separate the items by single commas", Where::option(option));
      }
      items.emplace_back(item);
      if (comma == std::string_view::npos) break;
      rest.remove_prefix(comma + 1);
    }
  }
  return items;
}

double parse_option_number(const std::string& option, const std::string& item) {
  const bool minus = item.starts_with('-');
  const std::string name = CLI::detail::to_lower(minus ? item.substr(1) : item);
  if (name == "inf" || name == "infinity") {
    return (minus ? -1.0 : 1.0) * std::numeric_limits<double>::infinity();
  }
  if (name == "nan") return std::numeric_limits<double>::quiet_NaN();
  const ParsedNumber parsed = parse_number(item);
  if (parsed.status == NumberStatus::ok) return parsed.value;
  const bool too_large = parsed.status == NumberStatus::out_of_range;
  throw InvalidArgument(
      fmt::format("{} {}", shown(item), too_large ? "does not fit a double" : "is not a number"),
      too_large ? "Write inf for infinity" : "Give numbers separated by commas",
      Where::option(option));
}

CLI::Option* add_words_option(CLI::App& command, const std::string& names,
                              std::vector<std::string>& words, const std::string& help) {
  const auto read = [&words, option = first_of(names)](const std::vector<std::string>& given) {
    words = split_option(option, given);
  };
  return command.add_option_function<std::vector<std::string>>(names, read, help)
      ->allow_extra_args(false)
      ->type_name("X,X");
}

CLI::Option* add_numbers_option(CLI::App& command, const std::string& names,
                                std::vector<double>& numbers, const std::string& help) {
  const auto read = [&numbers, option = first_of(names)](const std::vector<std::string>& given) {
    numbers.clear();
    for (const std::string& item : split_option(option, given)) {
      numbers.push_back(parse_option_number(option, item));
    }
  };
  return command.add_option_function<std::vector<std::string>>(names, read, help)
      ->allow_extra_args(false)
      ->type_name("X,X");
}

}  // namespace sfumato::cli
