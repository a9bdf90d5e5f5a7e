#include "lab/images/features/feature_cache.hpp"

#include <fmt/format.h>

#include <cstring>
#include <filesystem>

#include "sfumato/core/error.hpp"
#include "sfumato/data/checksum.hpp"
#include "sfumato/data/file_input.hpp"
#include "sfumato/data/file_output.hpp"

namespace sfumato::lab {
namespace {

std::string_view bytes_of(const std::vector<float>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)};
}

/// The first line of a file.
std::string head_of(const std::string& name, std::string_view bytes) {
  return fmt::format("sfumato features: {}; sha256 {}\n", name, sha256(bytes));
}

bool read_kept(const std::string& path, const std::string& name, std::vector<float>& values) {
  std::error_code failed;
  if (!std::filesystem::exists(path, failed) || failed) return false;
  std::string content;
  try {
    content = read_file(path);
  } catch (const Error&) {
    return false;
  }
  const std::size_t size = values.size() * sizeof(float), line = content.find('\n');
  if (line == std::string::npos || content.size() != line + 1 + size) return false;
  const std::string_view bytes = std::string_view(content).substr(line + 1);
  if (!content.starts_with(head_of(name, bytes))) return false;
  std::memcpy(values.data(), bytes.data(), size);
  return true;
}

void keep(const std::string& path, const std::string& name, const std::vector<float>& values) {
  std::error_code failed;
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), failed);
  if (failed) return;
  try {
    OutputFile file(path);
    file.write(head_of(name, bytes_of(values)));
    file.write(bytes_of(values));
    file.commit();
  } catch (const StorageError&) {
    // A full disk costs the next run its time, not this one its result.
  }
}

}  // namespace

std::vector<float> cached_features(const std::string& cache, const std::string& name,
                                   std::size_t count,
                                   const std::function<std::vector<float>()>& compute) {
  if (cache.empty()) return compute();
  const std::string path =
      (std::filesystem::path(cache) / (sha256(name).substr(0, 32) + ".f4")).string();
  std::vector<float> values(count);
  if (read_kept(path, name, values)) return values;
  values = compute();
  keep(path, name, values);
  return values;
}

}  // namespace sfumato::lab
