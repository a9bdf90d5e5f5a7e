#pragma once

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

}  // namespace sfumato::lab
