#include "sfumato/core/suggest.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

namespace sfumato {
namespace {

/// Longer words are not mistyped keys; the limit keeps the quadratic distance cheap on any input.
constexpr std::size_t kLongestWord = 64;

constexpr std::size_t kListedCandidates = 12;

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return result;
}

/// Edits (insert, delete, exchange, swap of neighbours) that turn a into b, by three rows of the
/// optimal-string-alignment table.
std::size_t edit_distance(const std::string& a, const std::string& b) {
  std::vector<std::size_t> before(b.size() + 1), above(b.size() + 1), row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) above[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t exchanged = above[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, exchanged});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], before[j - 2] + 1);
      }
    }
    std::swap(before, above);
    std::swap(above, row);
  }
  return above[b.size()];
}

}  // namespace

std::optional<std::string> nearest(std::string_view word,
                                   const std::vector<std::string>& candidates) {
  if (word.empty() || word.size() > kLongestWord) return std::nullopt;
  const std::string typed = lower(word);
  std::optional<std::string> best, extension;
  std::size_t best_distance = kLongestWord, extensions = 0;
  for (const std::string& candidate : candidates) {
    if (candidate.empty() || candidate.size() > kLongestWord) continue;
    const std::string known = lower(candidate);
    const std::size_t longer = std::max(typed.size(), known.size());
    const std::size_t allowed = std::max<std::size_t>(1, longer / 3);
    const std::size_t distance = edit_distance(typed, known);
    if (distance <= allowed && distance < longer && distance < best_distance) {
      best = candidate;
      best_distance = distance;
    }
    if (typed.size() >= 3 && known.starts_with(typed)) {
      extension = candidate;
      ++extensions;
    }
  }
  if (best) return best;
  return extensions == 1 ? extension : std::nullopt;
}

std::string suggestion(std::string_view word, const std::vector<std::string>& candidates,
                       std::string_view kind) {
  if (const auto near = nearest(word, candidates)) return fmt::format("Did you mean `{}`?", *near);
  if (candidates.empty()) return fmt::format("There are no known {}", kind);
  std::string list;
  for (std::size_t i = 0; i < std::min(candidates.size(), kListedCandidates); ++i) {
    list += fmt::format("{}`{}`", i == 0 ? "" : ", ", candidates[i]);
  }
  if (candidates.size() > kListedCandidates) {
    list += fmt::format(" and {} more", candidates.size() - kListedCandidates);
  }
  return fmt::format("Known {}: {}", kind, list);
}

}  // namespace sfumato
