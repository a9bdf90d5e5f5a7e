#pragma once

#include <string>
#include <string_view>

#include "sfumato/report/sentence.hpp"

namespace sfumato {

/// Texts of a document are ASCII with a little mathematics in it: `s^T Sigma^{-1} s`, `eps at delta = 1e-05`,
/// `KL(D||D')`, `sqrt(KL/2)`. Here it is set as people write it: Greek letters, powers, indices, signs.
///
/// Left alone are words that are code or names: options (--delta), keys with values (eps=3), what stands in
/// backticks, paths, and names with underscores (isotropic_per_layer).

/// For a page: escaped, powers and indices as MathML.
[[nodiscard]] std::string typeset_html(std::string_view text);
[[nodiscard]] inline std::string typeset_html(const std::string& text) {
  return typeset_html(std::string_view(text));
}
[[nodiscard]] inline std::string typeset_html(const char* text) {
  return typeset_html(std::string_view(text));
}

/// The parts of a text, each as what it is; only what was not marked is searched for mathematics.
[[nodiscard]] std::string typeset_html(const Text& text);

/// For labels of drawings: Unicode where it has the signs (`S₁²`), and the text itself where not. Not escaped.
[[nodiscard]] std::string typeset_text(std::string_view text);

}  // namespace sfumato
