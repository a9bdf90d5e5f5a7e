#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace CLI {
class App;
class FormatterBase;
}  // namespace CLI

namespace sfumato::apps {

/// Columns of the terminal that standard output is; 80 where it is none, or unknown.
[[nodiscard]] std::size_t terminal_width();

/// Headings of --help: options that a command needs, and those that say what is printed and written.
inline constexpr const char* kRequiredGroup = "Required";
inline constexpr const char* kOutputGroup = "Output";
/// The options that --help leaves to --help-all.
inline constexpr const char* kMoreGroup = "More options";

/// Keeps --help short: of the options of a command that are not required and not about output these are shown, by their names without dashes, and the
/// others by --help-all. To be called when all are declared.
void show_first(CLI::App& command, const std::vector<std::string>& names);

/// How --help looks: lines that fit the terminal, options by their first name, with what their value looks
/// like. For the program, before its commands are declared: they take it over.
[[nodiscard]] std::shared_ptr<CLI::FormatterBase> help_format();

}  // namespace sfumato::apps
