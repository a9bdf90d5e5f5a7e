#include "lab/ledger/old_study.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cstdint>
#include <sstream>
#include <string_view>

namespace sfumato::lab {

std::string records_from_one(const std::string& study) {
  constexpr std::string_view kKey = "record = ";
  std::istringstream lines(study);
  std::string line, table, text;
  while (std::getline(lines, line)) {
    if (line.starts_with("[")) table = line;
    if (table == "[adjacency]" && line.starts_with(kKey)) {
      std::uint64_t record = 0;
      const char* first = line.data() + kKey.size();
      const char* last = line.data() + line.size();
      const auto [end, error] = std::from_chars(first, last, record);
      if (error == std::errc{} && end == last) line = fmt::format("{}{}", kKey, record + 1);
    }
    text += line + "\n";
  }
  return text;
}

}  // namespace sfumato::lab
