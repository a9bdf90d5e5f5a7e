#include "list_option.hpp"

#include <fmt/format.h>

#include <limits>
#include <string_view>

#include "sfumato/core/error.hpp"
#include "sfumato/data/text.hpp"

namespace sfumato::apps {
namespace {

std::string lower_case(std::string text) {
  for (char& letter : text) {
    if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter - 'A' + 'a');
  }
  return text;
}

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

double parse_option_number(const std::string& option, const std::string& item, bool of_list) {
  const bool minus = item.starts_with('-');
  const std::string name = lower_case(minus ? item.substr(1) : item);
  if (name == "inf" || name == "infinity") {
    return (minus ? -1.0 : 1.0) * std::numeric_limits<double>::infinity();
  }
  if (name == "nan") return std::numeric_limits<double>::quiet_NaN();
  const ParsedNumber parsed = parse_number(item);
  if (parsed.status == NumberStatus::ok) return parsed.value;
  const bool too_large = parsed.status == NumberStatus::out_of_range;
  throw InvalidArgument(
      fmt::format("{} {}", shown(item), too_large ? "does not fit a double" : "is not a number"),
      too_large ? "Write inf for infinity"
      : of_list ? "Give numbers separated by commas"
                : "Give a number",
      Where::option(option));
}

}  // namespace sfumato::apps
