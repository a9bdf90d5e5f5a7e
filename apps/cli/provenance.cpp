#include "provenance.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <string_view>

#include "sfumato/core/error.hpp"
#include "sfumato/data/checksum.hpp"

namespace sfumato::apps {
namespace {

namespace fs = std::filesystem;

constexpr std::uintmax_t kLargest = 1ULL << 30;
constexpr std::array<std::string_view, 5> kOutputs = {"--report", "--out", "--save", "--statement",
                                                      "--template"};

struct CommandLine {
  std::vector<std::string> words;
  std::vector<std::pair<std::string, fs::file_time_type>> files;
};

CommandLine& command_line() {
  static CommandLine line;
  return line;
}

/// SQLite's own mark at the start of a file: an audit of a ledger records its look in it.
bool is_ledger(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  std::array<char, 15> head{};
  stream.read(head.data(), head.size());
  return stream && std::string_view(head.data(), head.size()) == "SQLite format 3";
}

/// As a shell reads it back.
std::string quoted(const std::string& word) {
  const bool plain = !word.empty() && std::all_of(word.begin(), word.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 ||
           std::string_view("-_=./:,+@%").find(static_cast<char>(c)) != std::string_view::npos;
  });
  if (plain) return word;
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

std::string joined(const std::vector<std::string>& words) {
  std::string text = "sfumato";
  for (const std::string& word : words) text += " " + quoted(word);
  return text;
}

/// What was computed is not lost because a file cannot be read a second time: the page says so.
std::string checksum_of(const std::string& path) {
  constexpr const char* kUnread = "could not be read again";
  std::ifstream stream(path, std::ios::binary);
  if (!stream) return kUnread;
  try {
    return digest_of(Digest::sha256, stream);
  } catch (const Error&) {
    return kUnread;
  }
}

}  // namespace

void remember_command_line(int argc, char** argv) {
  CommandLine line;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const bool is_output = i > 1 && std::find(kOutputs.begin(), kOutputs.end(),
                                              std::string_view(argv[i - 1])) != kOutputs.end();
    line.words.push_back(word);
    const std::string path = word.starts_with("--") && word.find('=') != std::string::npos
                                 ? word.substr(word.find('=') + 1)
                                 : word;
    const bool names_output =
        std::any_of(kOutputs.begin(), kOutputs.end(),
                    [&](std::string_view o) { return word.starts_with(std::string(o) + "="); });
    if (is_output || names_output) continue;
    std::error_code error;
    if (!fs::is_regular_file(path, error) || error || fs::file_size(path, error) > kLargest)
      continue;
    line.files.emplace_back(path, fs::last_write_time(path, error));
  }
  command_line() = std::move(line);
}

void keep_private(const std::string& path) {
  const auto same = [&](const std::string& other) {
    std::error_code error;
    return other == path || fs::equivalent(other, path, error);
  };
  std::erase_if(command_line().files, [&](const auto& file) { return same(file.first); });
  for (std::string& word : command_line().words) {
    const std::size_t start =
        word.starts_with("--") && word.find('=') != std::string::npos ? word.find('=') + 1 : 0;
    const std::string given = word.substr(start);
    if (same(given)) word = word.substr(0, start) + fs::path(given).filename().string();
  }
}

Facts run_facts() {
  Facts facts = {{"command line", joined(command_line().words)}};
  if (const std::string commit = build_commit(); !commit.empty())
    facts.emplace_back("commit", commit);
  for (const auto& [path, written] : command_line().files) {
    std::error_code error;
    const bool changed = fs::last_write_time(path, error) != written || error;
    const bool written_by_us = changed && is_ledger(path);
    const std::string sum = changed && !written_by_us ? std::string("changed while the program ran")
                                                      : checksum_of(path);
    facts.emplace_back("SHA-256 of " + path,
                       written_by_us ? sum + " (after this run, which is recorded in it)" : sum);
  }
  return facts;
}

}  // namespace sfumato::apps
