#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sfumato/data/memory_table.hpp"
#include "sfumato/fit/plan.hpp"
#include "sfumato/fit/public_table.hpp"

namespace sfumato {

/// A regression that may be published: fitted to a private table with a guarantee for all tables.
struct FitQuestion {
  std::string table;  ///< CSV with a header row
  /// In the place of the file, which `table` then only names in messages; none: there is a file.
  std::shared_ptr<const MemoryTable> in_memory;
  std::string target;  ///< the column to predict; as the bounds declare it, or empty
  FitModel model = FitModel::ridge;
  std::string
      bounds;  ///< file of declarations (fit/public_table.hpp), or "self": from the table, without a guarantee
  double target_epsilon = 1.0;
  double target_delta = 1e-5;
  std::optional<std::uint64_t> records;           ///< N; over that of the bounds
  std::optional<NeighbouringRelation> adjacency;  ///< over that of the bounds
  std::optional<double> row_norm;
  bool intercept = true;
  /// What becomes of records that lack a value (parse_missing()), where the bounds do not say it of the column.
  std::string missing = "drop";
  std::optional<FitMechanism> mechanism;  ///< none: the one of least predicted loss
  std::vector<std::string>
      select;  ///< mechanisms to fit by, of which held-out rows choose one: each spends its share
  FitSettings settings;
  bool compare = false;  ///< predict for every mechanism
  std::string
      after;  ///< model or accountant file of what was released before about the same records
  std::string budget, limit;  ///< file that the run is booked in, and what all runs in it may spend
  std::optional<std::uint64_t>
      seed;  ///< noise that can be repeated, for experiments: voids the guarantee
  bool row_risks =
      false;  ///< what each row of this table adds to the release: for its holder alone
  std::uint64_t audit_runs = 0;    ///< fits of an empty table with and without a canary; 0: none
  bool accept_useless = false;     ///< also where the prediction says that the fit will be useless
  bool allow_large_delta = false;  ///< a target_delta above 1 / records
};

/// Whether the fit will have a guarantee: nothing is taken from the table itself, and no seed takes the noise off again.
[[nodiscard]] inline bool has_guarantee(const FitQuestion& question) {
  return question.bounds != "self" && !question.seed;
}

}  // namespace sfumato
