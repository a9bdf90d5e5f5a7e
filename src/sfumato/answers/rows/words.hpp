#pragma once

#include <string>
#include <string_view>

#include "sfumato/answers/rows/output.hpp"

namespace sfumato {

/// "1 row", "3 rows".
[[nodiscard]] std::string count_of(std::size_t count, std::string_view noun);

/// The loss that is minimised.
[[nodiscard]] std::string words_of_model(const RowsQuestion& question,
                                         const RegressionInput& input);

/// What is published.
[[nodiscard]] std::string words_of_release(const Release& release);

/// How the numbers of this question come about, for footnotes.
[[nodiscard]] std::string words_of_method(const RowsQuestion& question);

}  // namespace sfumato
