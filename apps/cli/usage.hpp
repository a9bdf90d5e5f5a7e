#pragma once

#include <string>
#include <vector>

#include "sfumato/core/error.hpp"

namespace CLI {
class App;
class ParseError;
}  // namespace CLI

namespace sfumato::apps {

/// What is said about a command line that cannot be understood, or of which the library complains. All texts are
/// one line.

/// About the word where a command is expected, if it is none; else empty. CLI11 would let
/// `sfumato acount --help` pass.
[[nodiscard]] std::string unknown_command(const CLI::App& app,
                                          const std::vector<std::string>& words);

/// About a command line that CLI11 does not understand: the word, and what may have been meant.
[[nodiscard]] std::string explain(const CLI::App& app, const CLI::ParseError& error);

/// The message of an error of `command`. The library speaks of the keys of a question, in backticks; `keys_in_file` says
/// that the user does too, else they are called by the options that the command has for them.
[[nodiscard]] std::string message_of(const CLI::App& command, const Error& error,
                                     bool keys_in_file);

}  // namespace sfumato::apps
