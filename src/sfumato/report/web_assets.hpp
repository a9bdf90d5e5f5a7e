#pragma once

#include <string_view>

namespace sfumato {

/// The files of web/ that pages carry; the build makes the definitions.
struct WebAssets {
  std::string_view style;  ///< web/report.css
  std::string_view page;   ///< web/page.js: tables that sort and copy, the colour scheme
  std::string_view
      figures;  ///< web/figures/ with Observable Plot; empty in a build without Node.js
};

[[nodiscard]] const WebAssets& web_assets();

}  // namespace sfumato
