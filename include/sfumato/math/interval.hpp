#pragma once

namespace sfumato {

/// All numbers between two ends, which may be infinite.
struct Interval {
  double lower;
  double upper;
};

}  // namespace sfumato
