#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "sfumato/data/labelled_set.hpp"

namespace sfumato {

/// `count` records of one pixel; record i has the label i mod classes.
inline LabelledSet pixel_set(std::size_t count, int classes = 10) {
  LabelledSet set;
  set.name = "pixels";
  set.classes = classes;
  std::vector<std::uint8_t> values;
  for (std::size_t i = 0; i < count; ++i) {
    values.push_back(static_cast<std::uint8_t>(i % 256));
    set.labels.push_back(static_cast<std::uint8_t>(i % static_cast<std::size_t>(classes)));
  }
  set.values = std::move(values);
  set.standardisation = pixels_only();
  return set;
}

}  // namespace sfumato
