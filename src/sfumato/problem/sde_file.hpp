#pragma once

#include <string>
#include <vector>

#include "sfumato/data/keys/key.hpp"
#include "sfumato/problem/sde_problem.hpp"

namespace sfumato {

/// The keys of a problem file but those of [risk], by table: title, [flow], [estimate], [assume], [d], [d_prime].
[[nodiscard]] const std::vector<KeyInfo>& sde_problem_keys();

/// Reads a problem; docs/bound.md describes its keys. [risk] is left to the caller.
///
/// Throws    InvalidArgument with file:line:column, and as the readers of the files it names;
///           NumericalFailure where a problem on data has no minimiser.
[[nodiscard]] SdeProblem read_sde_problem(const TomlTable& root, const std::string& source,
                                          DriftsAre drifts = DriftsAre::meant);

/// Throws   InvalidArgument at the key: no time or one out of its range, a step, domain or number of cells that
///          cannot be used.
void require_sde_problem(const SdeProblem& problem);

}  // namespace sfumato
