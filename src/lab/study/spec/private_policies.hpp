#pragma once

#include "lab/study/spec/study.hpp"
#include "sfumato/data/toml.hpp"

namespace sfumato::lab {

/// What [train] says of private training, put where it belongs: epochs become iterations, clip and noise_multiplier go to the private
/// policies that have none of their own; full batches get their size; a study with a clip and no [[noise]] gets a private policy.
///
/// Throws   InvalidArgument for what contradicts itself (epochs and iterations; a clip that no policy uses; an unknown number of records).
void settle_private(Study& study, const TomlTable& root);

/// Refuses keys of a [[noise]] that its policy or metric would ignore, and what it lacks.
void require_private_keys(const NoiseSpec& noise, const TomlTable& table);

}  // namespace sfumato::lab
