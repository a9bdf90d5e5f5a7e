#pragma once

#include <string>
#include <vector>

#include "sfumato/bound/bound_question.hpp"
#include "sfumato/data/keys/key.hpp"

namespace sfumato {

/// All keys of a problem file, by table; docs/bound.md explains them.
[[nodiscard]] const std::vector<KeyInfo>& bound_keys();

/// The question of a problem file, with what the command line puts over it. `source` names it in the output.
/// Throws   as read_sde_problem().
[[nodiscard]] BoundQuestion read_bound_question(const TomlTable& root, const std::string& source,
                                                DriftsAre drifts = DriftsAre::meant);

}  // namespace sfumato
