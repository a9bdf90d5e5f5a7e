#include "data/cifar_package.hpp"

#include <gtest/gtest.h>
#include <png.h>

#include <random>
#include <vector>

#include "sfumato/core/error.hpp"
#include "unit/data/temp_dir.hpp"

namespace sfumato::cli {
namespace {

constexpr std::uint32_t kRow = 1024, kRows = 10'000;

std::string png_of(const std::vector<std::uint8_t>& rgb, std::uint32_t width,
                   std::uint32_t height) {
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  image.width = width;
  image.height = height;
  image.format = PNG_FORMAT_RGB;
  image.flags = PNG_IMAGE_FLAG_FAST;
  png_alloc_size_t size = PNG_IMAGE_PNG_SIZE_MAX(image);
  std::string bytes(size, '\0');
  if (png_image_write_to_memory(&image, bytes.data(), &size, 0, rgb.data(), 0, nullptr) == 0) {
    throw std::runtime_error(image.message);
  }
  bytes.resize(size);
  return bytes;
}

std::string json_of(const std::vector<int>& labels) {
  std::string text = "[";
  for (const int label : labels) text += std::to_string(label) + ",";
  text.back() = ']';
  return text;
}

class CifarPackage : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    std::mt19937 rng(5);
    rgb = new std::vector<std::uint8_t>(std::size_t{3} * kRow * kRows);
    // Few colours, so that compressing takes no time; all differ between the channels.
    for (std::size_t i = 0; i < rgb->size(); ++i) {
      (*rgb)[i] = static_cast<std::uint8_t>(i % 3 * 80 + i / 3072 % 50);
    }
    for (int i = 0; i < 300; ++i) (*rgb)[rng() % rgb->size()] = static_cast<std::uint8_t>(rng());
    png = new std::string(png_of(*rgb, kRow, kRows));
  }
  static void TearDownTestSuite() {
    delete rgb;
    delete png;
  }
  static inline std::vector<std::uint8_t>* rgb = nullptr;
  static inline std::string* png = nullptr;
};

TEST_F(CifarPackage, BecomesTheOfficialLayout) {
  std::vector<int> labels;
  for (int i = 0; i < 20'000; ++i) labels.push_back(i < 10'000 ? 0 : i % 10);
  const std::string bytes = official_bytes(*png, "p.png", json_of(labels), "l.json", 10'000);
  ASSERT_EQ(bytes.size(), 30'730'000u);
  for (const std::size_t record : {0u, 1u, 17u, 9'999u}) {
    EXPECT_EQ(bytes[record * 3073], static_cast<char>(record % 10));
    for (std::size_t colour = 0; colour < 3; ++colour) {
      for (std::size_t i = 0; i < kRow; ++i) {
        ASSERT_EQ(static_cast<std::uint8_t>(bytes[record * 3073 + 1 + colour * kRow + i]),
                  (*rgb)[(record * kRow + i) * 3 + colour]);
      }
    }
  }
}

TEST_F(CifarPackage, Refusals) {
  const std::string labels = json_of(std::vector<int>(10'000, 3));
  const auto refusal = [&](std::string_view image, std::string_view text, std::size_t first = 0) {
    return message_of<InvalidArgument>(
        [&] { (void)official_bytes(image, "p.png", text, "l.json", first); });
  };
  EXPECT_TRUE(refusal("no image", labels).starts_with("p.png: is not a PNG image"));
  EXPECT_TRUE(refusal(std::string_view(*png).substr(0, png->size() / 2), labels)
                  .starts_with("p.png: is a damaged PNG image"));
  EXPECT_TRUE(refusal(png_of(std::vector<std::uint8_t>(12), 2, 2), labels)
                  .starts_with("p.png: is an image of 2 x 2 pixels, not 1024 x 10000"));
  EXPECT_TRUE(refusal(*png, "[1, 2]").starts_with("l.json: is not a JSON list of 10000 labels"));
  EXPECT_TRUE(refusal(*png, "{").starts_with("l.json: "));
  EXPECT_TRUE(refusal(*png, labels, 1).starts_with("l.json: "));
  for (const char* bad : {"10", "-1", "2.5", "\"3\""}) {
    std::string text = labels;
    text.replace(1, 1, bad);
    EXPECT_TRUE(refusal(*png, text).starts_with("l.json: label 0 is not one of 0 to 9")) << bad;
  }
}

}  // namespace
}  // namespace sfumato::cli
