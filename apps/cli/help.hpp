#pragma once

#include <cstddef>
#include <memory>

namespace CLI {
class FormatterBase;
}  // namespace CLI

namespace sfumato::apps {

/// Columns of the terminal that standard output is; 80 where it is none, or unknown.
[[nodiscard]] std::size_t terminal_width();

/// Headings of --help: options that a command needs, and those that say what is printed and written.
inline constexpr const char* kRequiredGroup = "Required";
inline constexpr const char* kOutputGroup = "Output";

/// How --help looks: lines that fit the terminal, options by their first name, with what their value looks
/// like. For the program, before its commands are declared: they take it over.
[[nodiscard]] std::shared_ptr<CLI::FormatterBase> help_format();

}  // namespace sfumato::apps
