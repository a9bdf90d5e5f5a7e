#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "sfumato/storage/connection.hpp"
#include "sfumato/storage/content_digest.hpp"

namespace sfumato::lab {

/// Formats of ledgers, all with the same tables. From format 3 the ledger knows what it holds (`content`, see
/// below). Up to that, the records of its study count from 0.
constexpr std::int64_t kFormatWithoutContent = 2, kFormatFromZero = 3, kLedgerFormat = 4;

/// Makes the tables, in the caller's transaction.
void make_tables(DatabaseConnection& connection);

/// The format of the ledger, after a check that its tables are those of a ledger and nothing else is there
/// (a view in the place of a table, a trigger), and that SQLite finds its pages sound.
/// Throws   InvalidArgument if the file is no ledger, is empty, is damaged or has a format that is not known.
[[nodiscard]] std::int64_t require_sound(const DatabaseConnection& connection);

/// What a ledger holds beside the trials themselves, by key: its identity and notes of runs.
using Meta = std::map<std::string, std::string>;

/// Items of a ledger as they enter its digest. A trial enters with its own digest, which covers its key.
[[nodiscard]] ContentDigest meta_item(const std::string& key, const std::string& value);
[[nodiscard]] ContentDigest look_item(std::uint64_t number, std::uint64_t trials);
/// Throws   InvalidArgument if `digest` is none.
[[nodiscard]] ContentDigest trial_item(const std::string& digest, const std::string& path);

/// The digest that the ledger was left with, in the row `content` of the table meta; written in each
/// transaction that changes what the ledger holds.
[[nodiscard]] ContentDigest recorded_content(const DatabaseConnection& connection);
void record_content(DatabaseConnection& connection, const ContentDigest& content);

/// Notes beside the trials, in the caller's transaction. In format 2 without their digest.
void put_meta(DatabaseConnection& connection, const std::string& key, const std::string& value);
void put_look(DatabaseConnection& connection, std::int64_t format, std::uint64_t number,
              std::uint64_t trials);

[[nodiscard]] std::map<std::uint64_t, std::uint64_t> read_looks(
    const DatabaseConnection& connection);

[[nodiscard]] Meta read_meta(const DatabaseConnection& connection);

/// Throws   InvalidArgument if a trial, a look or a note was added, removed or changed after it was written.
///          A ledger of format 2 does not know.
void require_content(const DatabaseConnection& connection, std::int64_t format, Meta meta);

}  // namespace sfumato::lab
