#pragma once

#include <string>
#include <string_view>

#include "sfumato/report/document.hpp"
#include "sfumato/rows/rows_answer.hpp"

namespace sfumato {

/// "1 row", "3 rows".
[[nodiscard]] std::string count_of(std::size_t count, std::string_view noun);

/// The loss that is minimised.
[[nodiscard]] Text words_of_model(const RowsAnswer& answer);

/// What is published.
[[nodiscard]] Text words_of_release(const Release& release);

/// " at noise 0.1" where several noises were compared: what is said of single rows is about the last of them.
/// Otherwise empty.
[[nodiscard]] std::string at_noise(const RowsAnswer& answer);

/// The release in a few words: "trained by noisy gradient flow run to stationarity, noise isotropic, variance 1".
[[nodiscard]] Text short_words_of_release(const RowsAnswer& answer);

/// What D' is.
[[nodiscard]] Text words_of_neighbour(const RowsQuestion& question);

/// How the numbers of this question come about, for footnotes.
[[nodiscard]] std::string words_of_method(const RowsAnswer& answer);

/// Adds rows without a number and columns whose rescaling is outside the claim.
void add_warnings(Document& document, const RowsAnswer& answer);

/// Adds what the numbers mean, assume and leave out.
void add_caveats(Document& document, const RowsAnswer& answer);

/// Adds how the columns of the file became numbers: categories with their reference levels, booleans.
void add_columns_read(Document& document, const RowsAnswer& answer);

/// Adds what the analyst should know of the table before reading risks: values that were made up, columns of very
/// different units.
void add_table_warnings(Document& document, const RowsAnswer& answer);

}  // namespace sfumato
