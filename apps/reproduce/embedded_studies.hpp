#pragma once

#include <span>
#include <string_view>

namespace sfumato::apps {

/// A file of studies/, embedded by the build (CMakeLists.txt writes the source).
struct EmbeddedStudy {
  std::string_view name;  ///< of the file, without .toml
  std::string_view text;
};
extern const std::span<const EmbeddedStudy> kEmbeddedStudies;

}  // namespace sfumato::apps
