#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "found.hpp"
#include "sfumato/core/observer.hpp"
#include "sfumato/data/keys/key.hpp"
#include "sfumato/data/memory_table.hpp"

namespace sfumato::python {

/// What a question is asked with.
struct Asked {
  const TomlTable& table;     ///< of its keys
  const std::string& source;  ///< the file or function that asks
  bool force;                 ///< of a report: files are replaced
  std::shared_ptr<const MemoryTable>
      in_memory;  ///< the table that a key names, where it is no file; it lives for the time of the call
};

/// A question that is asked by keys: the table of them, and who answers.
struct KeyedQuestion {
  std::function<std::vector<KeyInfo>()> keys;
  /// An error at a key is thrown where the table gives it.
  std::function<Found(const Asked& asked, Observer&)> answer;
};

/// By the name of the command.
[[nodiscard]] const std::map<std::string, KeyedQuestion>& keyed_questions();

/// Throws   InvalidArgument for an unknown command.
[[nodiscard]] const KeyedQuestion& keyed_question(const std::string& command);

}  // namespace sfumato::python
