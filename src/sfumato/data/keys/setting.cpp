#include "sfumato/data/keys/setting.hpp"

#include <algorithm>

#include "sfumato/data/text.hpp"

namespace sfumato {

TomlOverride setting_of(const std::string& text) {
  TomlOverride result;
  result.source = "--set " + text;
  const std::size_t equals = text.find('=');
  const std::string path(trimmed(std::string_view(text).substr(0, equals)));
  for (std::size_t from = 0; from <= path.size();) {
    const std::size_t dot = std::min(path.find('.', from), path.size());
    result.path.push_back(path.substr(from, dot - from));
    from = dot + 1;
  }
  const bool empty_part =
      std::any_of(result.path.begin(), result.path.end(), [](const auto& p) { return p.empty(); });
  if (equals == std::string::npos || empty_part) {
    throw InvalidArgument("is not of the form KEY=VALUE", "Write it as in train.iterations=200",
                          Where::in(result.source));
  }
  result.value = trimmed(std::string_view(text).substr(equals + 1));
  return result;
}

}  // namespace sfumato
