#pragma once

#include <string>
#include <string_view>

namespace sfumato {

/// `text` for the content of an element or a quoted attribute: made printable, then & < > " ' as
/// references, so that markup in it is shown.
[[nodiscard]] std::string html_text(std::string_view text);

/// The same without making it printable, for parts of a text that is.
[[nodiscard]] std::string html_escaped(std::string_view text);

/// JSON for the inside of a <script> element, where "</script" and "<!--" would end or change it:
/// every < is written as \u003c, which JSON has only inside strings.
[[nodiscard]] std::string json_for_script(std::string_view json);

}  // namespace sfumato
