#include "sfumato/account/planned_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string_view>

#include "sfumato/account/spent.hpp"
#include "sfumato/core/error.hpp"
#include "sfumato/data/checksum.hpp"
#include "sfumato/data/file_input.hpp"

namespace sfumato {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kHead = 4096;  // bytes that tell what a file is

std::string head_of(const std::string& path) {
  std::string head(kHead, '\0');
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    throw StorageError("is there and cannot be read: what would be replaced is not known",
                       "Check its permissions, or choose another name", Where::in(path));
  }
  file.read(head.data(), static_cast<std::streamsize>(head.size()));
  head.resize(static_cast<std::size_t>(file.gcount()));
  return head;
}

/// SQLite has the number of its user in the header: "SfmB", src/sfumato/account/budget_file.cpp.
bool is_budget(std::string_view head) {
  return head.starts_with("SQLite format 3") && head.size() >= 72 &&
         head.substr(68, 4) == std::string_view("SfmB");
}

bool is_account(std::string_view head) {
  const auto has_line = [&](std::string_view key) {
    return head.starts_with(key) || head.find("\n" + std::string(key)) != head.npos;
  };
  return has_line("sha256 = ") && has_line("proven_epsilon = ");
}

/// Whether the text says "certified": true, with whatever blanks.
bool says_certified(std::string_view text) {
  constexpr std::string_view kKey = "\"certified\"";
  for (std::size_t at = text.find(kKey); at != text.npos; at = text.find(kKey, at + 1)) {
    std::string_view rest = text.substr(at + kKey.size());
    const auto skip = [&](std::string_view characters) {
      rest.remove_prefix(std::min(rest.find_first_not_of(characters), rest.size()));
    };
    skip(" \t\r\n");
    if (!rest.starts_with(":")) continue;
    rest.remove_prefix(1);
    skip(" \t\r\n");
    if (rest.starts_with("true")) return true;
  }
  return false;
}

bool is_certified_model(const std::string& path, std::string_view head) {
  const std::size_t first = head.find_first_not_of("\xEF\xBB\xBF \t\r\n");
  if (first == head.npos || head[first] != '{') return false;
  const std::string text = read_file(path);
  return text.find("\"sfumato.fit/") != text.npos && says_certified(text);
}

/// Whether an account that stands beside a model names it.
bool has_account(const std::string& path) {
  std::error_code ignored;
  for (const std::string& account : accounts_beside(path)) {
    if (fs::is_regular_file(account, ignored) &&
        read_file(account).find(sha256(read_file(path))) != std::string::npos) {
      return true;
    }
  }
  return false;
}

const char* words_for(KeptFile kept) {
  switch (kept) {
    case KeptFile::model: return "a model with a guarantee";
    case KeptFile::account: return "an account of releases";
    case KeptFile::budget: return "a budget";
    case KeptFile::none: break;
  }
  return "";
}

}  // namespace

KeptFile kept_file(const std::string& path) {
  std::error_code ignored;
  if (path.empty() || !fs::is_regular_file(path, ignored)) return KeptFile::none;
  const std::string head = head_of(path);
  if (is_budget(head)) return KeptFile::budget;
  if (is_account(head)) return KeptFile::account;
  if (is_certified_model(path, head) || has_account(path) || !statements_beside(path).empty()) {
    return KeptFile::model;
  }
  return KeptFile::none;
}

void prepare_outputs(const std::vector<std::string>& inputs,
                     const std::vector<PlannedFile>& outputs, bool force) {
  require_apart(inputs, outputs);
  for (const auto& [key, path, continues] : outputs) {
    if (path.empty()) continue;
    require_new(path, force);
    const KeptFile kept = kept_file(path);
    if (kept != KeptFile::none && (!continues || kept == KeptFile::budget)) {
      throw InvalidArgument(
          fmt::format("{} is {}, and what was spent would be forgotten", path, words_for(kept)),
          "Choose another name; `force` replaces no such file", Where::key(key));
    }
    prepare_output(path, force);
  }
}

}  // namespace sfumato
