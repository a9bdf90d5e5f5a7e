#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "lab/images/data_sets.hpp"
#include "sfumato/core/observer.hpp"
#include "sfumato/data/keys/key.hpp"
#include "sfumato/report/document.hpp"

namespace sfumato::lab {

/// Compare every file that is found with the size and the SHA-256 of the published one.
struct DataCheckQuestion {
  std::vector<std::string> sets = {};  ///< names; empty: all
  DataPlaces places = data_places();
};

/// All but `places`.
[[nodiscard]] const Keys<DataCheckQuestion>& data_check_keys();

enum class FileState { right, wrong, not_readable, not_found };

/// "right", "wrong", "not readable" or "not found".
[[nodiscard]] std::string_view name(FileState state);

struct CheckedFile {
  const KnownDataSet* set;
  const DataFile* file;
  FileState state = FileState::not_found;
  std::string path = {};       ///< empty: not found
  std::string complaint = {};  ///< what is wrong with it
};

struct DataCheckAnswer {
  std::vector<CheckedFile> files;  ///< those before the observer asked to stop
  bool stopped = false;

  [[nodiscard]] std::size_t count(FileState state) const;
};

/// Throws   InvalidArgument for a name that is unknown, a named set of which nothing is found (with the paths tried),
///          or if nothing at all is.
[[nodiscard]] DataCheckAnswer answer(const DataCheckQuestion& question, Observer& observer);

[[nodiscard]] Document document_of(const DataCheckAnswer& answer, Detail detail);

/// How to get a data set.
struct DataGetQuestion {
  std::string set;  ///< name
  DataPlaces places = data_places();
};

/// All but `places`.
[[nodiscard]] const Keys<DataGetQuestion>& data_get_keys();

struct DataGetAnswer {
  const KnownDataSet* set;
  std::string found_in = {};  ///< directory, for a set that a package brings
  std::string fetch_into =
      {};  ///< directory for tools/fetch_cifar10.mjs; empty: nothing is to be fetched
};

/// Throws   InvalidArgument if the name is unknown, if the set comes with a package that is not installed, or if
///          there is no cache to fetch into.
[[nodiscard]] DataGetAnswer answer(const DataGetQuestion& question, Observer& observer);

[[nodiscard]] Document document_of(const DataGetAnswer& answer, Detail detail);

/// Which of the known data sets are on this machine, and where.
struct DataListQuestion {
  DataPlaces places = data_places();
};

/// What is found of one part of a set.
struct DataInventory {
  const KnownDataSet* set;
  DataPart part;
  std::size_t files = 0, files_found = 0;
  std::size_t records = 0, records_found = 0;
  std::uint64_t bytes = 0;                    ///< of all files, uncompressed
  std::vector<std::string> directories = {};  ///< in which there are some, each once
};

struct DataListAnswer {
  DataListQuestion question;
  std::vector<DataInventory> parts;  ///< two for each set
};

[[nodiscard]] DataListAnswer answer(const DataListQuestion& question, Observer& observer);

[[nodiscard]] Document document_of(const DataListAnswer& answer, Detail detail);

}  // namespace sfumato::lab
