#include "sfumato/account/named_model.hpp"

#include <fmt/format.h>

#include <filesystem>

#include "sfumato/core/error.hpp"
#include "sfumato/data/checksum.hpp"
#include "sfumato/data/file_input.hpp"

namespace sfumato {
namespace {

namespace fs = std::filesystem;

constexpr const char* kPath = "model";
constexpr const char* kDigest = "SHA-256 of the model";
constexpr const char* kChecked = "model when this page was made";

std::string value_of(const Document& document, const std::string& key) {
  for (const auto& [name, value] : document.provenance()) {
    if (name == key) return value;
  }
  return "";
}

/// The file to look at; empty if there is none.
std::string model_near(const std::string& source, const std::string& written) {
  std::error_code ignored;
  const fs::path beside = fs::path(source).parent_path() / fs::path(written).filename();
  for (const fs::path& path : {beside, fs::path(written)}) {
    // The document of model.json may not be model.json itself.
    if (fs::is_regular_file(path, ignored) && !fs::equivalent(path, source, ignored)) {
      return path.string();
    }
  }
  return "";
}

}  // namespace

void name_model(Document& document, const std::string& path, const std::string& sha256) {
  if (sha256.empty()) return;
  document.add_provenance(kPath, path);
  document.add_provenance(kDigest, sha256);
}

void check_named_model(Document& document, const std::string& source) {
  const std::string written = value_of(document, kPath), digest = value_of(document, kDigest);
  if (written.empty() || digest.empty()) return;
  const std::string path = model_near(source, written);
  const std::string found = path.empty() ? "" : sha256(read_file(path));
  if (!path.empty() && found != digest) {
    throw InvalidArgument(
        fmt::format("is about a model with the SHA-256 {}..., and {} has {}...: it is another one",
                    digest.substr(0, 12), path, found.substr(0, 12)),
        "Give the document of that model; or move the model away, if the page is not about it",
        Where::in(source));
  }
  if (!value_of(document, kChecked).empty()) return;  // the JSON of a page
  document.add_provenance(kChecked, path.empty() ? "not found, hence not compared" : "the same");
}

}  // namespace sfumato
