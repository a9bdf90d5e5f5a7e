#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace sfumato::cli {

/// Options whose value is a list, X,X; given several times, the lists are joined. What the list
/// holds before (its default) is replaced. The option never takes the word after its value, so that a
/// file may follow.
///
/// An empty item (1,,2) is refused, since it is a mistake whose meaning cannot be guessed: parsing
/// throws InvalidArgument that names the option, and for numbers also where an item is no
/// decimal number, inf or nan, or does not fit a double.
CLI::Option* add_words_option(CLI::App& command, const std::string& names,
                              std::vector<std::string>& words, const std::string& help);
CLI::Option* add_numbers_option(CLI::App& command, const std::string& names,
                                std::vector<double>& numbers, const std::string& help);

/// The items of such lists, and the number that one of them is. Throw as above.
[[nodiscard]] std::vector<std::string> split_option(const std::string& option,
                                                    const std::vector<std::string>& given);
[[nodiscard]] double parse_option_number(const std::string& option, const std::string& item);

}  // namespace sfumato::cli
