#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "found.hpp"
#include "sfumato/core/observer.hpp"
#include "sfumato/data/keys/key.hpp"

namespace sfumato::python {

/// A question that is asked by keys: the table of them, and who answers.
struct KeyedQuestion {
  std::function<std::vector<KeyInfo>()> keys;
  /// `source` is the file or function that asks. An error at a key is thrown where the table gives it.
  std::function<Found(const TomlTable& table, const std::string& source, Observer&)> answer;
};

/// By the name of the command.
[[nodiscard]] const std::map<std::string, KeyedQuestion>& keyed_questions();

/// Throws   InvalidArgument for an unknown command.
[[nodiscard]] const KeyedQuestion& keyed_question(const std::string& command);

}  // namespace sfumato::python
