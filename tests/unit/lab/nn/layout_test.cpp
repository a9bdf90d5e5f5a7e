// Moving numbers between the columns of all models and the rows of one, with every instruction set.
#include "lab/nn/kernel/layout.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "lab/nn/kernel/matrix.hpp"
#include "support/every_instruction_set.hpp"

namespace sfumato::kernel {
namespace {

constexpr float kJunk = -1.0F;  ///< marks what is not to be written, or means nothing

TEST(Layout, TransposesAndPadsWithZeros) {
  with_every_instruction_set([] {
    for (std::size_t rows = 1; rows <= 19; ++rows) {
      for (std::size_t columns = 1; columns <= 19; ++columns) {
        const std::size_t from_stride = padded(columns), to_stride = padded(rows) + 8;
        std::vector<float> from(rows * from_stride, kJunk), to(padded(columns) * to_stride, kJunk);
        for (std::size_t i = 0; i < rows; ++i) {
          for (std::size_t j = 0; j < columns; ++j) {
            from[i * from_stride + j] = static_cast<float>(100 * i + j + 1);
          }
        }
        transpose(from.data(), from_stride, rows, columns, to.data(), to_stride);
        for (std::size_t j = 0; j < padded(columns); ++j) {
          for (std::size_t i = 0; i < to_stride; ++i) {
            float expected = i < padded(rows) && j < columns ? 0.0F : kJunk;
            if (i < rows && j < columns) expected = static_cast<float>(100 * i + j + 1);
            ASSERT_EQ(to[j * to_stride + i], expected) << rows << "x" << columns << " " << j << i;
          }
        }
      }
    }
  });
}

TEST(Layout, SeparatesAndJoins) {
  with_every_instruction_set([] {
    for (const std::size_t models : {1U, 2U, 4U, 8U}) {
      for (std::size_t channels = 1; channels <= 18; ++channels) {
        for (const bool tight : {false, true}) {
          const std::size_t pixels = 3, columns = padded(channels * models);
          const std::size_t stride = tight ? channels : padded(channels);
          const ModelLayout layout{pixels, channels, models, columns, stride};
          std::vector<float> joined(pixels * columns + 64, kJunk), again(joined.size(), kJunk);
          std::vector<std::int32_t> numbers(joined.size(), -1);
          for (std::size_t p = 0; p < pixels; ++p) {
            for (std::size_t i = 0; i < channels * models; ++i) {
              numbers[p * columns + i] = static_cast<std::int32_t>(1 + 1000 * p + i);
              joined[p * columns + i] = static_cast<float>(1 + 1000 * p + i);
            }
          }
          std::vector<std::vector<float>> apart(models, std::vector<float>(pixels * stride + 8));
          std::vector<std::vector<std::int32_t>> which(
              models, std::vector<std::int32_t>(pixels * stride + 8));
          float* to[8];
          const float* from[8];
          std::int32_t* at[8];
          for (std::size_t m = 0; m < models; ++m) {
            from[m] = to[m] = apart[m].data();
            at[m] = which[m].data();
          }
          separate(joined.data(), layout, to);
          separate(numbers.data(), layout, at);
          for (std::size_t m = 0; m < models; ++m) {
            for (std::size_t i = 0; i < pixels * stride; ++i) {
              const std::size_t p = i / stride, c = i % stride;
              const std::size_t expected = c < channels ? 1 + 1000 * p + c * models + m : 0;
              ASSERT_EQ(apart[m][i], static_cast<float>(expected)) << models << " " << channels;
              ASSERT_EQ(which[m][i], static_cast<std::int32_t>(expected));
            }
          }
          join(from, layout, again.data());
          for (std::size_t i = 0; i < pixels * columns; ++i) {
            const bool real = i % columns < channels * models;
            ASSERT_EQ(again[i], real ? joined[i] : 0.0F) << models << " " << channels << " " << i;
          }
        }
      }
    }
  });
}

}  // namespace
}  // namespace sfumato::kernel
