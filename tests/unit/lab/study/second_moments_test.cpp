#include "lab/study/second_moments.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace sfumato::lab {
namespace {

/// Whatever a row is, its part of the sum has a trace of at most the bound squared; in single precision too, where factors can have no digits.
TEST(SecondMoments, NoRowIsLongerThanTheBound) {
  for (const double bound : {1.0, 1e-3, 1e-6, 1e-12}) {
    for (const float size : {3e38F, 1e38F, 1e33F, 1e20F, 1.0F, 1e-6F, 1e-30F}) {
      for (const std::size_t positions : {1U, 5U}) {
        constexpr std::size_t kWidth = 10;
        SecondMoments moments(positions, kWidth, bound);
        moments.add(1, [&](std::size_t, float* rows, std::size_t stride) {
          for (std::size_t p = 0; p < positions; ++p) std::fill_n(rows + p * stride, kWidth, size);
          return true;
        });
        EXPECT_LE(moments.sum().trace(), bound * bound) << bound << " " << size;
      }
    }
  }
}

}  // namespace
}  // namespace sfumato::lab
