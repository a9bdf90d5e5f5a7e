#pragma once

#include <cstddef>
#include <vector>

#include "sfumato/data/labelled_set.hpp"

namespace sfumato::lab {

/// Random Fourier features of every record, record by record: see with_features().
[[nodiscard]] std::vector<float> random_features(const LabelledSet& set, std::size_t count,
                                                 double bandwidth);

}  // namespace sfumato::lab
