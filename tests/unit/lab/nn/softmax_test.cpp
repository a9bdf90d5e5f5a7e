// Softmax with cross-entropy against double precision, with every instruction set.
#include "lab/nn/kernel/softmax.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "lab/nn/kernel/matrix.hpp"
#include "support/every_instruction_set.hpp"

namespace sfumato::kernel {
namespace {

TEST(Softmax, GradientsAndLosses) {
  with_every_instruction_set([] {
    for (const std::size_t classes : {1U, 2U, 8U, 10U, 17U, 70U}) {
      for (const std::size_t rows : {1U, 7U, 8U, 21U}) {
        const std::size_t stride = padded(classes);
        std::vector<float> logits(rows * stride, 77.0F), gradient(rows * stride, -1.0F);
        std::vector<float> weights(rows), losses(rows);
        std::vector<std::uint8_t> labels(rows);
        for (std::size_t r = 0; r < rows; ++r) {
          for (std::size_t n = 0; n < classes; ++n) {
            logits[r * stride + n] = static_cast<float>((r * 7 + n * 5) % 11) - 5.0F;
          }
          labels[r] = static_cast<std::uint8_t>(r % classes);
          weights[r] = 0.1F * static_cast<float>(r % 3);
        }
        softmax_rows({logits.data(), gradient.data(), rows, classes, stride, labels.data(),
                      weights.data(), losses.data()});
        for (std::size_t r = 0; r < rows; ++r) {
          double sum = 0.0;
          const auto logit = [&](std::size_t n) {
            return static_cast<double>(logits[r * stride + n]);
          };
          for (std::size_t n = 0; n < classes; ++n) sum += std::exp(logit(n));
          EXPECT_NEAR(static_cast<double>(losses[r]), std::log(sum) - logit(labels[r]), 2e-6);
          for (std::size_t n = 0; n < stride; ++n) {
            const double share = n < classes ? std::exp(logit(n)) / sum : 0.0;
            const double expected =
                (share - (n == labels[r] ? 1.0 : 0.0)) * static_cast<double>(weights[r]);
            EXPECT_NEAR(static_cast<double>(gradient[r * stride + n]), expected, 2e-7);
          }
        }
      }
    }
  });
}

}  // namespace
}  // namespace sfumato::kernel
