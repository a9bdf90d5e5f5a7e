#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "sfumato/core/verdict.hpp"
#include "sfumato/math/covariance.hpp"
#include "sfumato/report/document.hpp"

namespace sfumato::python {

/// One column of numbers, counts or texts, an entry per row of a table.
struct FoundColumn {
  std::string name;
  std::variant<std::vector<double>, std::vector<std::int64_t>, std::vector<std::string>> values;
};

/// What an answer comes to, whatever the question was: its document, and what is too large for one.
struct Found {
  std::function<Document(Detail)> document;
  Verdict verdict = Verdict::none;
  bool stopped = false;
  std::vector<FoundColumn> columns = {};        ///< of `rows`: every row
  std::optional<Covariance> covariance = {};    ///< of `design`
  std::optional<double> noise_multiplier = {};  ///< of `account`: what was found for a target
  std::string text =
      {};  ///< of `account`: the releases; of a study: its ledger; of `fit`: the model
  std::vector<std::string> inputs =
      {};                      ///< files that were read: what is saved replaces none of them
  std::string statement = {};  ///< of `fit`: for a model card; empty where there is no guarantee
};

}  // namespace sfumato::python
