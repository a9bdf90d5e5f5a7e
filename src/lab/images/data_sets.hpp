#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sfumato/core/error.hpp"
#include "sfumato/data/labelled_set.hpp"

namespace sfumato::lab {

enum class DataPart { train, test };

/// "train", "test".
[[nodiscard]] std::string_view name(DataPart part);

/// A published file, by what it holds uncompressed.
struct DataFile {
  std::string_view name;  ///< without the suffix of a compression
  DataPart part;
  std::size_t records;  ///< whose values it holds; 0 for a file of labels alone
  std::uint64_t size;
  std::string_view sha256;
  std::string_view md5;  ///< as published with the set; empty where that is of a compressed file
};

/// A public set that is known by name.
struct KnownDataSet {
  std::string_view name;         ///< "fashion-mnist"
  std::string_view directory;    ///< in which its files lie, inside a data directory
  std::string_view compression;  ///< suffix under which a file is looked for too: ".gz"
  std::span<const DataFile> files;
  std::string_view source;  ///< to cite
  std::string_view licence;
  std::string_view command;  ///< that fetches it
};

/// Fashion-MNIST and CIFAR-10.
[[nodiscard]] std::span<const KnownDataSet> known_data_sets();

/// Throws   InvalidArgument at `where`, with a suggestion.
[[nodiscard]] const KnownDataSet& known_data_set(std::string_view name,
                                                 const Where& where = Where::here());

/// Data directories, in the order in which they are searched.
struct DataPlaces {
  std::vector<std::string> directories;
};

/// $SFUMATO_DATA; the user's cache, where `sfumato data get` writes; the distribution's
/// /usr/share/datasets. Variables that are unset or empty are left out.
[[nodiscard]] DataPlaces data_places();

/// ${XDG_CACHE_HOME:-$HOME/.cache}/sfumato, or nothing if neither variable is set.
[[nodiscard]] std::optional<std::string> user_cache();

/// Where the file is, plain or compressed, or nothing.
[[nodiscard]] std::optional<std::string> find_data_file(const KnownDataSet& set,
                                                        const DataFile& file,
                                                        const DataPlaces& places);

/// Every path at which find_data_file() looks.
[[nodiscard]] std::vector<std::string> paths_tried(const KnownDataSet& set, const DataFile& file,
                                                   const DataPlaces& places);

/// The uncompressed content of a file, its size and SHA-256 checked.
///
/// Throws   InvalidArgument naming the path and the check that failed; as read_file(), decompressed().
[[nodiscard]] std::string read_verified(const std::string& path, const DataFile& file);

/// A known set, standardised by its public constants.
///
/// Of CIFAR-10's training part, the batches 1, 2, ... that `records` need are read, 10,000 records in
/// each; 0 reads all batches up to the first that is not found. `files` tells which were.
///
/// Throws   InvalidArgument if the name is unknown, a file is not found (the paths tried, the command that
///          fetches it) or fails a check, or the part has fewer than `records`; as read_verified().
[[nodiscard]] LabelledSet load_data_set(std::string_view name, DataPart part,
                                        std::size_t records = 0,
                                        const DataPlaces& places = data_places());

}  // namespace sfumato::lab
