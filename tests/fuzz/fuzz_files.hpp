#pragma once

#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "sfumato/data/checksum.hpp"

namespace sfumato {

/// A file of this process with the bytes, for readers that take paths.
inline std::string file_with(std::string_view bytes, const std::string& ending) {
  static const std::string stem =
      (std::filesystem::temp_directory_path() / ("sfumato_fuzz_" + std::to_string(::getpid())))
          .string();
  const std::string path = stem + ending;
  std::ofstream(path, std::ios::binary | std::ios::trunc)
      .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  return path;
}

/// An account with the digest that belongs to it, so that what is behind the check of the digest is read too. As digest_of() in state.cpp.
inline std::string with_right_digest(const std::string& text) {
  const std::string key = "sha256 = ";
  const std::size_t begin = text.find(key);
  if (begin == std::string::npos) return text;
  const std::size_t end = text.find('\n', begin);
  const std::string rest = end == std::string::npos ? "" : text.substr(end + 1);
  const std::string digest = sha256(text.substr(0, begin) + rest);
  return text.substr(0, begin) + key + '"' + digest + "\"\n" + rest;
}

}  // namespace sfumato
