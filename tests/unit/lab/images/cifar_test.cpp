#include "lab/images/cifar.hpp"

#include <gtest/gtest.h>

#include "sfumato/core/error.hpp"
#include "support/temp_dir.hpp"

namespace sfumato::lab {
namespace {

std::string record(char label, char pixel) {
  return std::string(1, label) + std::string(kCifarPixels - 1, pixel) + "!";
}

TEST(Cifar, Records) {
  std::vector<std::uint8_t> pixels, labels;
  append_cifar(record(9, 'a') + record(0, 'b'), "f", 2, pixels, labels);
  append_cifar(record(4, 'c'), "g", 1, pixels, labels);
  EXPECT_EQ(labels, (std::vector<std::uint8_t>{9, 0, 4}));
  ASSERT_EQ(pixels.size(), 3 * kCifarPixels);
  EXPECT_EQ(pixels[0], 'a');
  EXPECT_EQ(pixels[kCifarPixels - 1], '!');
  EXPECT_EQ(pixels[kCifarPixels], 'b');
}

TEST(Cifar, Refusals) {
  std::vector<std::uint8_t> pixels, labels;
  const auto refusal = [&](const std::string& bytes) {
    return message_of<InvalidArgument>([&] { append_cifar(bytes, "f", 2, pixels, labels); });
  };
  const std::string two = record(1, 'a') + record(2, 'b');
  EXPECT_NE(refusal(two.substr(1)).find("f: holds 6145 bytes, where 2 records of 3073 are 6146"),
            std::string::npos);
  EXPECT_NE(refusal(two + "x").find("6147 bytes"), std::string::npos);
  EXPECT_NE(refusal(record(1, 'a') + record(10, 'b'))
                .find("f: the label 10 of record 1 is not one of 0 to 9"),
            std::string::npos);
  EXPECT_TRUE(pixels.empty() && labels.empty());
}

}  // namespace
}  // namespace sfumato::lab
