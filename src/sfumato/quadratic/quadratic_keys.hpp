#pragma once

#include <string>
#include <vector>

#include "sfumato/data/keys/key.hpp"
#include "sfumato/quadratic/quadratic_question.hpp"

namespace sfumato {

/// All keys of a problem file, by table; docs/quadratic.md explains them.
[[nodiscard]] const std::vector<KeyInfo>& quadratic_keys();

/// The question of a problem file, with what the command line puts over it. `source` names it in the output.
/// Throws    InvalidArgument with file:line:column, and as the readers of the files it names.
[[nodiscard]] QuadraticQuestion read_quadratic_question(const TomlTable& root,
                                                        const std::string& source);

/// Throws   InvalidArgument at a key: no time or step or one out of its range, a learning rate that is not positive,
///          D and D' of different dimensions.
void require_quadratic(const QuadraticQuestion& question);

}  // namespace sfumato
