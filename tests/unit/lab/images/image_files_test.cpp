#include "lab/images/image_files.hpp"

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
namespace {

std::string idx(const std::vector<std::uint32_t>& shape, const std::string& values) {
  std::string bytes{0, 0, 8, static_cast<char>(shape.size())};
  for (const std::uint32_t length : shape) {
    for (int shift = 24; shift >= 0; shift -= 8) {
      bytes.push_back(static_cast<char>(length >> shift & 0xFF));
    }
  }
  return bytes + values;
}

const std::string kImages = idx({2, 2, 3}, "abcdefghijkl");
const std::string kLabels = idx({2}, {3, 0});

std::string refusal(const std::string& bytes) {
  return message_of<InvalidArgument>([&] { (void)parse_idx(bytes, "f"); });
}

TEST(Idx, Arrays) {
  const IdxArray images = parse_idx(kImages, "f");
  EXPECT_EQ(images.shape, (std::vector<std::size_t>{2, 2, 3}));
  EXPECT_EQ(std::string(images.values.begin(), images.values.end()), "abcdefghijkl");
  EXPECT_EQ(parse_idx(idx({300}, std::string(300, 'x')), "f").values.size(), 300u);
}

TEST(Idx, Refusals) {
  EXPECT_EQ(refusal("").rfind("f: ends before the magic number", 0), 0u);
  EXPECT_NE(refusal("\x01" + kImages.substr(1)).find("magic number"), std::string::npos);
  std::string floats = kImages;
  floats[2] = 0x0D;
  EXPECT_NE(refusal(floats).find("type 0x0d, not bytes"), std::string::npos);
  EXPECT_NE(refusal(idx({}, "")).find("0 axes"), std::string::npos);
  EXPECT_NE(refusal(idx({1, 1, 1, 1, 1}, "x")).find("5 axes"), std::string::npos);
  EXPECT_NE(refusal(kImages.substr(0, 10)).find("inside the IDX header"), std::string::npos);
  EXPECT_NE(refusal(kImages.substr(0, kImages.size() - 1))
                .find("holds 11 bytes after the header, where the shape (2, 2, 3) says 12"),
            std::string::npos);
  EXPECT_NE(refusal(kImages + "x").find("holds 13 bytes"), std::string::npos);
  EXPECT_NE(refusal(idx({0, 2}, "")).find("length 0"), std::string::npos);
  EXPECT_NE(refusal(idx({0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF}, "")).find("too large"),
            std::string::npos);
}

TEST(Idx, ImagesJoinTheirLabels) {
  const LabelledSet set = join_idx(parse_idx(kImages, "i"), "i", parse_idx(kLabels, "l"), "l");
  EXPECT_EQ(set.shape, (ImageShape{1, 2, 3}));
  EXPECT_EQ(set.count(), 2u);
  EXPECT_EQ(set.classes, 4);
  EXPECT_EQ(set.labels, (std::vector<std::uint8_t>{3, 0}));
  EXPECT_EQ(bytes_of(set, 1)[0], 'g');
  EXPECT_EQ(set.standardisation, pixels_only());
  require_consistent(set);
}

TEST(Idx, ChannelsAndJoining) {
  const LabelledSet set = join_idx(parse_idx(idx({1, 3, 2, 2}, std::string(12, 'x')), "i"), "i",
                                   parse_idx(idx({1}, {0}), "l"), "l");
  EXPECT_EQ(set.shape, (ImageShape{3, 2, 2}));
  EXPECT_EQ(set.classes, 2);
  const auto refused = [](const std::string& images, const std::string& labels) {
    return message_of<InvalidArgument>(
        [&] { (void)join_idx(parse_idx(images, "i"), "i", parse_idx(labels, "l"), "l"); });
  };
  EXPECT_NE(refused(kImages, idx({3}, {1, 2, 3})).find("l: has 3 labels for the 2 images of i"),
            std::string::npos);
  EXPECT_EQ(refused(kLabels, kLabels).rfind("i: ", 0), 0u);
  EXPECT_EQ(refused(kImages, kImages).rfind("l: ", 0), 0u);
}

}  // namespace
}  // namespace sfumato::lab
