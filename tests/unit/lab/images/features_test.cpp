#include "lab/images/features/features.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "sfumato/core/error.hpp"
#include "support/temp_dir.hpp"

namespace sfumato::lab {
namespace {

/// Images of 8 x 8 in two channels.
LabelledSet images(std::size_t count, std::size_t first = 0) {
  LabelledSet set;
  set.name = "made up";
  set.shape = {2, 8, 8};
  set.classes = 2;
  set.standardisation.divisor = 255.0;
  set.checksum = "of " + std::to_string(count) + " from " + std::to_string(first);
  std::vector<std::uint8_t> pixels;
  for (std::size_t r = first; r < first + count; ++r) {
    set.labels.push_back(static_cast<std::uint8_t>(r % 2));
    for (std::size_t i = 0; i < 128; ++i)
      pixels.push_back(static_cast<std::uint8_t>(i * (r + 3) * (r + 7 * i)));
  }
  set.values = std::move(pixels);
  return set;
}

const std::vector<float>& floats_of(const LabelledSet& set) {
  return std::get<std::vector<float>>(set.values);
}

TEST(Features, ScatteringHasMeanZeroAndVarianceOneInEveryGroup) {
  FeatureOptions options{FeatureKind::scattering};
  const LabelledSet found = with_features(images(11), options);
  EXPECT_EQ(found.shape, (ImageShape{162, 2, 2}));
  EXPECT_EQ(found.labels, images(11).labels);
  const std::size_t size = found.shape.size(), group = size / 27;
  for (std::size_t r = 0; r < 11; ++r) {
    double length = 0.0;
    for (std::size_t g = 0; g < 27; ++g) {
      double sum = 0.0;
      for (std::size_t i = 0; i < group; ++i) {
        const auto value = static_cast<double>(floats_of(found)[r * size + g * group + i]);
        sum += value;
        length += value * value;
      }
      EXPECT_NEAR(sum, 0.0, 1e-4);
    }
    EXPECT_NEAR(length, static_cast<double>(size), 1e-2 * static_cast<double>(size));
  }
  options.pooling = 2;
  EXPECT_EQ(with_features(images(2), options).shape, (ImageShape{162, 1, 1}));
  options.pooling = 3;
  EXPECT_THROW((void)with_features(images(2), options), InvalidArgument);
}

/// Neighbouring sets have neighbouring features: those of a record do not depend on the others.
TEST(Features, AreAFunctionOfTheRecordAlone) {
  for (const FeatureKind kind : {FeatureKind::scattering, FeatureKind::random}) {
    const FeatureOptions options{kind, 1, 50};
    const LabelledSet all = with_features(images(11), options),
                      some = with_features(images(3, 5), options);
    const std::size_t size = all.shape.size();
    for (std::size_t i = 0; i < 3 * size; ++i)
      EXPECT_EQ(floats_of(some)[i], floats_of(all)[5 * size + i]);
  }
}

TEST(Features, BlackImagesAreZero) {
  LabelledSet black = images(1);
  black.values = std::vector<std::uint8_t>(128, 0);
  const LabelledSet found = with_features(black, {FeatureKind::scattering});
  for (const float value : floats_of(found)) EXPECT_EQ(value, 0.0F);
}

/// The mean of products is the Gaussian kernel, within four standard errors of 4,000 features.
TEST(Features, RandomOnesApproximateTheKernel) {
  LabelledSet set = images(2);
  const std::size_t count = 4000;
  const double bandwidth = 0.7;
  const LabelledSet found = with_features(set, {FeatureKind::random, 1, count, bandwidth});
  double product = 0.0, square = 0.0;
  for (std::size_t k = 0; k < count; ++k) {
    product +=
        static_cast<double>(floats_of(found)[k]) * static_cast<double>(floats_of(found)[count + k]);
    square += std::pow(static_cast<double>(floats_of(found)[k]), 2);
  }
  std::vector<float> a(128), b(128);
  standardised(set, 0, a);
  standardised(set, 1, b);
  double distance = 0.0;
  for (std::size_t i = 0; i < 128; ++i) distance += std::pow(static_cast<double>(a[i] - b[i]), 2);
  const double kernel = std::exp(-distance / (2.0 * bandwidth * bandwidth * 128.0));
  EXPECT_GT(kernel, 0.2);
  EXPECT_NEAR(product / count, kernel, 4.0 / std::sqrt(static_cast<double>(count)));
  EXPECT_NEAR(square / count, 1.0, 4.0 / std::sqrt(static_cast<double>(count)));
}

TEST(Features, AreKeptAndReadUnlessTheFileIsDamaged) {
  const TempDir dir;
  const FeatureOptions options{FeatureKind::scattering};
  const LabelledSet first = with_features(images(3), options, dir.path());
  ASSERT_EQ(dir.files(), 1U);
  std::string path;
  for (const auto& entry : std::filesystem::directory_iterator(dir.path()))
    path = entry.path().string();
  const std::string kept = get(path);

  // What is read is the file: a whole one in its place, with other numbers, would be believed if its digest were not wrong.
  std::string damaged = kept;
  damaged[damaged.size() - 5] = static_cast<char>(damaged[damaged.size() - 5] ^ 64);
  for (const std::string& content :
       {damaged, kept.substr(0, kept.size() - 4), std::string("other")}) {
    put(path, content);
    EXPECT_EQ(floats_of(with_features(images(3), options, dir.path())), floats_of(first));
    EXPECT_EQ(get(path), kept);
  }
  // Other records, other settings: other files.
  (void)with_features(images(3, 1), options, dir.path());
  (void)with_features(images(3), {FeatureKind::scattering, 2}, dir.path());
  EXPECT_EQ(dir.files(), 3U);
}

TEST(Features, FromAFileHaveARowForEachRecord) {
  const TempDir dir;
  put(dir / "f.csv", "a,b\n1,2\n3,4.5\n");
  FeatureOptions options{FeatureKind::file};
  options.file = dir / "f.csv";
  const LabelledSet found = with_features(images(2), options);
  EXPECT_EQ(floats_of(found), (std::vector<float>{1.0F, 2.0F, 3.0F, 4.5F}));
  EXPECT_NE(found.checksum, images(2).checksum);
  EXPECT_NE(message_of<InvalidArgument>([&] {
              (void)with_features(images(3), options);
            }).find("2 rows of features for the 3 records"),
            std::string::npos);
}

TEST(Features, ScatteringNeedsImages) {
  LabelledSet table = images(2);
  table.shape = {128, 1, 1};
  EXPECT_THROW((void)with_features(table, {FeatureKind::scattering}), InvalidArgument);
}

}  // namespace
}  // namespace sfumato::lab
