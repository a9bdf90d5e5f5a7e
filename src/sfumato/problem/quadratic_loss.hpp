#pragma once

#include <string>

#include "sfumato/data/keys/key.hpp"
#include "sfumato/problem/side.hpp"
#include "sfumato/sde/problem/quadratic.hpp"

namespace sfumato {

/// The keys that describe a quadratic loss: A or B; minimiser, pull or y; and without_row where
/// another side is behind.
[[nodiscard]] std::vector<std::string> loss_keys(const Side& side);

/// The same for help and documents: those of [d].
[[nodiscard]] std::vector<KeyInfo> loss_key_infos();

/// The loss of one side.
/// Throws   InvalidArgument with file:line:column, and as the readers of the files it names.
[[nodiscard]] QuadraticLoss read_quadratic_loss(const Side& side);

/// "D' is D without row 3 of B and y", or nothing.
[[nodiscard]] std::string way_of_change(const Side& side);

}  // namespace sfumato
