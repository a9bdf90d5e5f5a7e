#include "sfumato/report/document.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "sfumato/core/error.hpp"
#include "sfumato/report/quantities.hpp"
#include "sfumato/version.hpp"

namespace sfumato {
namespace {

/// The key of a table or figure; nullptr for a statement, which has none.
const std::string* key_of(const Block& block) {
  if (const auto* table = std::get_if<Table>(&block)) return &table->key();
  if (const auto* figure = std::get_if<Figure>(&block)) return &figure->key();
  return nullptr;
}

}  // namespace

std::string_view name(StatementKind kind) {
  switch (kind) {
    case StatementKind::info: return "info";
    case StatementKind::warning: return "warning";
    case StatementKind::assumption: return "assumption";
    case StatementKind::verdict: return "verdict";
    case StatementKind::summary: return "summary";
  }
  throw InternalError("unknown kind of statement");
}

std::string_view name(Outcome outcome) {
  switch (outcome) {
    case Outcome::none: return "none";
    case Outcome::good: return "good";
    case Outcome::bad: return "bad";
    case Outcome::open: return "open";
  }
  throw InternalError("unknown outcome");
}

std::string Statement::plain(KeyStyle keys) const {
  return evidence.empty() ? text.plain(keys) : text.plain(keys) + ". " + evidence.plain(keys);
}

void Document::add(Block block) {
  if (const std::string* key = key_of(block)) {
    if (key->empty()) throw InternalError("a table or figure has no key");
    for (const Block& other : blocks_) {
      const std::string* taken = key_of(other);
      if (taken != nullptr && *taken == *key) {
        throw InternalError(fmt::format("the block key '{}' is taken", *key));
      }
    }
  }
  blocks_.push_back(std::move(block));
}

void Document::add_provenance(std::string key, std::string value) {
  for (const auto& [taken, other] : provenance_) {
    (void)other;
    if (taken == key) throw InternalError(fmt::format("the provenance key '{}' is taken", key));
  }
  provenance_.emplace_back(std::move(key), std::move(value));
}

void Document::add_result(std::string quantity, Cell value,
                          std::vector<std::pair<std::string, Cell>> of) {
  constexpr std::array kTaken = {"quantity", "value",       "reason",     "claim",
                                 "symbol",   "assumptions", "confidence", "method"};
  for (const auto& [key, subject] : of) {
    if (std::find(kTaken.begin(), kTaken.end(), key) != kTaken.end()) {
      throw InternalError(fmt::format("a result of a '{}', which is a key of results", key));
    }
  }
  if (!is_quantity(command_, quantity)) {
    throw InternalError(fmt::format("the number '{}' of {} is not described", quantity, command_));
  }
  add(Result{std::move(quantity), std::move(of), std::move(value)});
}

void Document::add(Result result) { results_.push_back(std::move(result)); }

Document new_document(const std::string& command, const std::string& title) {
  Document document(command, title);
  document.add_provenance("sfumato", std::string(kVersion));
  return document;
}

}  // namespace sfumato
