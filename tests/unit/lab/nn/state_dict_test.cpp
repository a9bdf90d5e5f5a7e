#include "lab/nn/state_dict.hpp"

#include <gtest/gtest.h>

#include <numeric>

#include "sfumato/core/error.hpp"

namespace sfumato::lab {
namespace {

TEST(StateDict, HasPyTorchsShapes) {
  const Network lenet = preset_network("lenet");
  const std::vector<NamedTensor> tensors =
      state_dict(lenet, std::vector<float>(lenet.parameter_count()));
  ASSERT_EQ(tensors.size(), 10U);
  EXPECT_EQ(tensors[0].name, "conv1.weight");
  EXPECT_EQ(tensors[0].shape, (std::vector<std::size_t>{6, 3, 5, 5}));
  EXPECT_EQ(tensors[1].name, "conv1.bias");
  EXPECT_EQ(tensors[4].name, "fc1.weight");
  EXPECT_EQ(tensors[4].shape, (std::vector<std::size_t>{120, 400}));
  EXPECT_EQ(tensors[9].shape, (std::vector<std::size_t>{10}));
}

TEST(StateDict, MovesPixelsAndChannels) {
  // 2 channels of 2 x 2 through a 1 x 1 convolution, flattened, then two outputs.
  const Network net({2, 2, 2}, {{"conv", Conv2d{2, 1}},
                                {"act", Relu{}},
                                {"flatten", Flatten{}},
                                {"more", Tanh{}},
                                {"fc", Linear{2}}});
  std::vector<float> parameters(net.parameter_count());
  std::iota(parameters.begin(), parameters.end(), 0.0F);
  const std::vector<NamedTensor> tensors = state_dict(net, parameters);
  // Stored (input channel, output channel): 0 1 / 2 3.
  EXPECT_EQ(tensors[0].values, (std::vector<float>{0, 2, 1, 3}));
  const std::size_t offset = net.blocks()[1].offset;
  for (std::size_t out = 0; out < 2; ++out) {
    for (std::size_t channel = 0; channel < 2; ++channel) {
      for (std::size_t pixel = 0; pixel < 4; ++pixel) {
        EXPECT_EQ(tensors[2].values[out * 8 + channel * 4 + pixel],
                  parameters[offset + (pixel * 2 + channel) * 2 + out]);
      }
    }
  }
}

TEST(StateDict, RefusesAnotherNumberOfParameters) {
  EXPECT_THROW((void)state_dict(preset_network("mlp-10"), std::vector<float>(3)), InvalidArgument);
}

}  // namespace
}  // namespace sfumato::lab
