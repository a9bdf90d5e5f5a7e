#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lab/images/data_sets.hpp"
#include "sfumato/core/observer.hpp"
#include "sfumato/report/document.hpp"

namespace sfumato::lab {

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
