#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace sfumato::lab {

/// Numbers that are slow to compute and a function of what `name` says: those of an earlier call, from a file in the folder `cache`, or computed now
/// and kept there. A file that is not the one that was written (its digest is in its first line) counts for nothing; where nothing can be
/// written nothing is kept. An empty `cache` keeps nothing.
[[nodiscard]] std::vector<float> cached_features(
    const std::string& cache, const std::string& name, std::size_t count,
    const std::function<std::vector<float>()>& compute);

}  // namespace sfumato::lab
