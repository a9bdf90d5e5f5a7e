#include "lab/images/data_sets.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <utility>

#include "lab/images/image_files.hpp"
#include "sfumato/core/suggest.hpp"
#include "sfumato/data/checksum.hpp"
#include "sfumato/data/compression.hpp"
#include "sfumato/data/file_input.hpp"
#include "sfumato/data/text.hpp"

namespace sfumato::lab {
namespace {

constexpr std::array kFashionMnistFiles{
    DataFile{"train-images-idx3-ubyte", DataPart::train, 60'000, 47'040'016,
             "c59f468a2f672dc815687fe0f83887768d799fd8a3f3276145d20f83aa44d888", ""},
    DataFile{"train-labels-idx1-ubyte", DataPart::train, 0, 60'008,
             "bad3541b69d912435c50bb6ba87bec294ff4f6a2e1246121d8633921760443d9", ""},
    DataFile{"t10k-images-idx3-ubyte", DataPart::test, 10'000, 7'840'016,
             "5b4141f0afbad91edebe8549f8fcffe087ea10ca49f1dbef5c9a5cd8815ce37b", ""},
    DataFile{"t10k-labels-idx1-ubyte", DataPart::test, 0, 10'008,
             "0402a96d92fd2663957122ceb108a494c5af83dab82d92729df917d7dec38c34", ""},
};

constexpr std::uint64_t kCifarSize = kCifarBatch * kCifarRecord;
constexpr std::array kCifarFiles{
    DataFile{"data_batch_1.bin", DataPart::train, kCifarBatch, kCifarSize,
             "cee916563c9f80d84e3cc88e17fdc0941787f1244f00a67874d45b261883ada5",
             "5dd7e06a14cb22eb9f671a540d1b7c25"},
    DataFile{"data_batch_2.bin", DataPart::train, kCifarBatch, kCifarSize,
             "a591ca11fa1708a91ee40f54b3da4784ccd871ecf2137de63f51ada8b3fa57ed",
             "5ea93a67294ea407fff1d09f752e9692"},
    DataFile{"data_batch_3.bin", DataPart::train, kCifarBatch, kCifarSize,
             "bbe8596564c0f86427f876058170b84dac6670ddf06d79402899d93ceea26f67",
             "942cd6a4bcdd0dd3c604fbe906cb4421"},
    DataFile{"data_batch_4.bin", DataPart::train, kCifarBatch, kCifarSize,
             "014e562d6e23c72197cc727519169a60359f5eccd8945ad5a09d710285ff4e48",
             "ae636b3ba5c66a11e91e8cb52e771fcb"},
    DataFile{"data_batch_5.bin", DataPart::train, kCifarBatch, kCifarSize,
             "755304fc0b379caeae8c14f0dac912fbc7d6cd469eb67a1029a08a39453a9add",
             "53f37980c15c3d472c316c40844f3f0d"},
    DataFile{"test_batch.bin", DataPart::test, kCifarBatch, kCifarSize,
             "8e2eb146ae340b09e24670f29cabc6326dba54da8789dab6768acf480273f65b",
             "803d5f7f4d78ea53de84dbe85f74fb6d"},
};

constexpr std::array kKnownSets{
    KnownDataSet{"fashion-mnist", "fashion-mnist", ".gz", kFashionMnistFiles,
                 "H. Xiao, K. Rasul, R. Vollgraf, Fashion-MNIST, 2017 (Zalando SE)", "MIT (Expat)",
                 "apt-get install dataset-fashion-mnist"},
    KnownDataSet{"cifar10", "cifar-10-batches-bin", ".xz", kCifarFiles,
                 "A. Krizhevsky, Learning Multiple Layers of Features from Tiny Images, 2009",
                 "none was found with the data", "sfumato data get cifar10"},
};

std::optional<std::string> variable(const char* name) {
  const char* value = std::getenv(name);
  if (value == nullptr || *value == '\0') return std::nullopt;
  return value;
}

bool exists(const std::string& path) { return ::access(path.c_str(), F_OK) == 0; }

std::string found_or_throw(const KnownDataSet& set, const DataFile& file,
                           const DataPlaces& places) {
  if (auto path = find_data_file(set, file, places)) return *std::move(path);
  throw InvalidArgument(fmt::format("{} is not found; tried {}", file.name,
                                    fmt::join(paths_tried(set, file, places), ", ")),
                        fmt::format("Run: {}", set.command), Where::in(std::string(set.name)));
}

std::vector<const DataFile*> files_of(const KnownDataSet& set, DataPart part) {
  std::vector<const DataFile*> files;
  for (const DataFile& file : set.files) {
    if (file.part == part) files.push_back(&file);
  }
  return files;
}

LabelledSet load_fashion_mnist(const KnownDataSet& known, DataPart part, const DataPlaces& places) {
  const std::vector<const DataFile*> files = files_of(known, part);
  const std::string images = found_or_throw(known, *files[0], places);
  const std::string labels = found_or_throw(known, *files[1], places);
  LabelledSet set = join_idx(parse_idx(read_verified(images, *files[0]), images), images,
                             parse_idx(read_verified(labels, *files[1]), labels), labels);
  set.standardisation = fashion_mnist_standardisation();
  return set;
}

LabelledSet load_cifar10(const KnownDataSet& known, DataPart part, std::size_t records,
                         const DataPlaces& places) {
  std::vector<const DataFile*> files = files_of(known, part);
  if (records > 0) files.resize((records + kCifarBatch - 1) / kCifarBatch);
  LabelledSet set;
  for (const DataFile* file : files) {  // all are found before the first is read
    const bool may_stop = records == 0 && !set.files.empty();
    if (may_stop && !find_data_file(known, *file, places)) break;
    set.files.push_back(found_or_throw(known, *file, places));
  }
  set.shape = {3, 32, 32};
  set.classes = kCifarClasses;
  std::vector<std::uint8_t> pixels;
  for (std::size_t i = 0; i < set.files.size(); ++i) {
    const std::string& path = set.files[i];
    append_cifar(read_verified(path, *files[i]), path, kCifarBatch, pixels, set.labels);
  }
  set.values = std::move(pixels);
  set.standardisation = cifar10_standardisation();
  return set;
}

}  // namespace

std::string_view name(DataPart part) { return part == DataPart::train ? "train" : "test"; }

std::span<const KnownDataSet> known_data_sets() { return kKnownSets; }

const KnownDataSet& known_data_set(std::string_view name, const Where& where) {
  std::vector<std::string> names;
  for (const KnownDataSet& set : kKnownSets) {
    if (set.name == name) return set;
    names.emplace_back(set.name);
  }
  throw InvalidArgument(fmt::format("the data set {} is unknown", shown(name)),
                        suggestion(name, names, "data sets"), where);
}

std::optional<std::string> user_cache() {
  // A relative path would name another place in every directory; the XDG specification has it ignored.
  if (const auto cache = variable("XDG_CACHE_HOME"); cache && cache->starts_with('/')) {
    return *cache + "/sfumato";
  }
  if (const auto home = variable("HOME")) return *home + "/.cache/sfumato";
  return std::nullopt;
}

DataPlaces data_places() {
  DataPlaces places;
  if (const auto given = variable("SFUMATO_DATA")) places.directories.push_back(*given);
  if (const auto cache = user_cache()) places.directories.push_back(*cache);
  places.directories.emplace_back("/usr/share/datasets");
  return places;
}

std::vector<std::string> paths_tried(const KnownDataSet& set, const DataFile& file,
                                     const DataPlaces& places) {
  std::vector<std::string> paths;
  for (const std::string& directory : places.directories) {
    const std::string plain = fmt::format("{}/{}/{}", directory, set.directory, file.name);
    paths.push_back(plain);
    paths.push_back(plain + std::string(set.compression));
  }
  return paths;
}

std::optional<std::string> find_data_file(const KnownDataSet& set, const DataFile& file,
                                          const DataPlaces& places) {
  for (std::string& path : paths_tried(set, file, places)) {
    if (exists(path)) return std::move(path);
  }
  return std::nullopt;
}

std::string read_verified(const std::string& path, const DataFile& file) {
  // Compression never makes a file much larger; the limits keep a wrong file out of memory.
  std::string content = decompressed(read_file(path, 2 * file.size + 4096), path, file.size);
  if (content.size() != file.size) {
    throw InvalidArgument(
        fmt::format("has the wrong size: {} bytes when decompressed, where {} has {}",
                    content.size(), file.name, file.size),
        "Fetch the file again", Where::in(path));
  }
  if (const std::string digest = sha256(content); digest != file.sha256) {
    throw InvalidArgument(fmt::format("fails its checksum: the SHA-256 of the content is {}, where "
                                      "{} has {}",
                                      digest, file.name, file.sha256),
                          "Fetch the file again", Where::in(path));
  }
  return content;
}

LabelledSet load_data_set(std::string_view name, DataPart part, std::size_t records,
                          const DataPlaces& places) {
  const KnownDataSet& known = known_data_set(name);
  std::size_t published = 0;
  for (const DataFile* file : files_of(known, part)) published += file->records;
  if (records > published) {
    throw InvalidArgument(fmt::format("has {} {} records, fewer than the {} asked for", published,
                                      lab::name(part), records),
                          "Ask for fewer", Where::in(std::string(known.name)));
  }
  LabelledSet set = known.name == "cifar10" ? load_cifar10(known, part, records, places)
                                            : load_fashion_mnist(known, part, places);
  set.name = known.name;
  std::vector<std::string> digests;  // as verified
  for (const DataFile* file : files_of(known, part)) {
    if (digests.size() < set.files.size()) digests.emplace_back(file->sha256);
  }
  set.checksum = joint_digest(digests);
  require_consistent(set);
  return set;
}

}  // namespace sfumato::lab
