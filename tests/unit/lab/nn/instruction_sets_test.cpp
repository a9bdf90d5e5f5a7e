// AVX2 and AVX-512 train to the same bits: the kernels do the same operations on the same lanes.
#include <gtest/gtest.h>

#include <random>

#include "hwy/targets.h"
#include "lab/nn/bundle.hpp"
#include "lab/nn/kernel/matrix.hpp"
#include "lab/nn/network.hpp"

namespace sfumato::lab {
namespace {

std::vector<float> trained(const Network& network) {
  constexpr std::size_t kRows = 13, kModels = 4;
  Bundle bundle(network, kModels);
  for (std::size_t m = 0; m < kModels; ++m) {
    bundle.set_parameters(m, initial_parameters(network, m));
  }
  std::mt19937 generator(1);
  std::normal_distribution<float> normal;
  std::vector<std::vector<float>> inputs(kRows, std::vector<float>(network.input().size() + 8));
  std::vector<const float*> rows;
  std::vector<std::uint8_t> labels(kRows);
  for (auto& row : inputs) {
    for (float& x : row) x = normal(generator);
    rows.push_back(row.data());
  }
  for (auto& label : labels) label = static_cast<std::uint8_t>(generator() % network.classes());
  const std::vector<float> weights(kModels * kRows, 1.0F / kRows);
  std::vector<float> normals(network.parameter_count() + 8), losses(kModels * kRows);
  std::vector<NoiseScale> scales(kModels);
  for (std::size_t m = 0; m < kModels; ++m) scales[m].gradient_factor = 0.01F;
  for (int step = 0; step < 4; ++step) {
    for (float& z : normals) z = normal(generator);
    bundle.compute_gradients({{kRows, rows.data()}, labels.data(), weights.data()}, losses.data());
    for (std::size_t b = 0; b < network.blocks().size(); ++b) {
      bundle.update(b, 0.1F, scales, scales, normals.data(), nullptr);
    }
  }
  std::vector<float> values(network.parameter_count());
  bundle.get_parameters(2, values);
  values.insert(values.end(), losses.begin(), losses.end());
  return values;
}

TEST(InstructionSets, Avx2AndAvx512GiveTheSameBits) {
  const std::int64_t here = hwy::SupportedTargets();
  if ((here & HWY_AVX2) == 0 || (here & HWY_AVX3) == 0) {
    GTEST_SKIP() << "this processor has only " << kernel::instruction_set();
  }
  for (const char* name : {"mlp-10", "lenet"}) {
    const Network network = preset_network(name);
    hwy::SetSupportedTargetsForTest(HWY_AVX3 | HWY_AVX2);
    hwy::GetChosenTarget().DeInit();
    const std::vector<float> wide = trained(network);
    EXPECT_STREQ(kernel::instruction_set(), "AVX3");
    hwy::SetSupportedTargetsForTest(HWY_AVX2);
    hwy::GetChosenTarget().DeInit();
    const std::vector<float> narrow = trained(network);
    EXPECT_STREQ(kernel::instruction_set(), "AVX2");
    hwy::SetSupportedTargetsForTest(0);
    hwy::GetChosenTarget().DeInit();
    EXPECT_EQ(wide, narrow) << name;
  }
}

}  // namespace
}  // namespace sfumato::lab
