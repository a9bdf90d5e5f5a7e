#include "sfumato/data/keys/key.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "sfumato/data/keys/toml_text.hpp"
#include "sfumato/data/text.hpp"

namespace sfumato {

std::string toml_text(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      quoted += '\\';
      quoted += c;
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) {
      quoted += fmt::format("\\u{:04X}", static_cast<unsigned>(static_cast<unsigned char>(c)));
    } else {
      quoted += c;
    }
  }
  return quoted + "\"";
}

std::string toml_text(double number) { return fmt::format("{}", number); }

std::string absolute_path(const std::string& path) {
  return std::filesystem::absolute(path).lexically_normal().string();
}

std::vector<std::string> input_files(const std::vector<KeyInfo>& keys, const TomlTable& table) {
  std::vector<std::string> files;
  for (const KeyInfo& key : keys) {
    if (!key.is_file || !key.table.empty()) continue;
    std::vector<std::string> spellings = key.aliases;
    spellings.push_back(key.key);
    for (const std::string& name : spellings) {
      if (!table.has(name)) continue;
      if (key.shape == KeyShape::texts) {
        for (std::string& path : table.paths(name)) files.push_back(std::move(path));
      } else if (table.is_string(name)) {
        files.push_back(table.path(name));
      }
    }
  }
  return files;
}

namespace detail {

void refuse_missing(const TomlTable& table, const std::vector<KeyInfo>& missing) {
  const Where where = table.where(missing.front().key);
  if (missing.size() == 1) {
    const KeyInfo& key = missing.front();
    throw InvalidArgument(fmt::format("the key {} is missing", table.label(key.key)),
                          fmt::format("Add it: {} ({})", key.help, key.type), where);
  }
  std::string names, all;
  for (const KeyInfo& key : missing) {
    names += fmt::format("{}{}", names.empty() ? "" : ", ", table.label(key.key));
    all += fmt::format("{}{}: {} ({})", all.empty() ? "" : "; ", key.key, key.help, key.type);
  }
  throw InvalidArgument(fmt::format("the keys {} are missing", names), "Add them: " + all, where);
}

void Refusals::refuse() const {
  if (list_.empty()) return;
  if (list_.size() == 1) throw InvalidArgument(list_.front());
  std::string others;
  for (std::size_t i = 1; i < list_.size(); ++i) {
    const Where& where = list_[i].where();
    const std::string advice = list_[i].advice();
    if (!others.empty()) others += " ";
    if (!list_[i].problem().key.empty()) {
      others += advice;
    } else {
      others += fmt::format("{0}{1}{0}: {2}", where.is_key() ? "`" : "", where.text(), advice);
    }
  }
  throw InvalidArgument(list_.front(), others);
}

std::string spelling_in(const TomlTable& table, const std::vector<std::string>& spellings) {
  std::string given;
  for (const std::string& name : spellings) {
    if (!table.has(name)) continue;
    if (!given.empty()) {
      throw InvalidArgument(
          fmt::format("{} and {} are the same key", table.label(given), table.label(name)),
          "Keep one of them", table.where(name));
    }
    given = name;
  }
  return given;
}

}  // namespace detail

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

Where place_of_key(const TomlTable& root, const std::vector<KeyInfo>& keys, const Where& where) {
  if (!where.is_key()) return where;
  for (const KeyInfo& key : keys) {
    std::vector<std::string> names = key.aliases;
    names.push_back(key.key);
    if (std::find(names.begin(), names.end(), where.text()) == names.end()) continue;
    if (!key.table.empty() && !root.has(key.table)) continue;
    const TomlTable table = key.table.empty() ? root : root.table(key.table);
    for (const std::string& name : names) {
      if (table.has(name)) return table.where(name);
    }
  }
  return where;
}

}  // namespace sfumato
