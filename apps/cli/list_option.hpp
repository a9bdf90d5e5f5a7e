#pragma once

#include <string>
#include <vector>

namespace sfumato::apps {

/// The items of an option whose value is a list, X,X; given several times, the lists are joined.
/// Throws   InvalidArgument that names the option for an empty item (1,,2): a mistake whose meaning cannot
///          be guessed.
[[nodiscard]] std::vector<std::string> split_option(const std::string& option,
                                                    const std::vector<std::string>& given);

/// The number that such an item is: decimal, inf or nan.
/// Throws   InvalidArgument that names the option if it is none of them or does not fit a double.
[[nodiscard]] double parse_option_number(const std::string& option, const std::string& item,
                                         bool of_list = true);

}  // namespace sfumato::apps
