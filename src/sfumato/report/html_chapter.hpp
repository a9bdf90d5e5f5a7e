#pragma once

#include <cstddef>
#include <string>

#include "sfumato/report/document.hpp"

namespace sfumato {

/// Where a chapter stands in its report.
struct ChapterPlace {
  std::size_t index = 0;    ///< from 0
  std::string number = {};  ///< "2"; its tables and figures are 2.1, 2.2. Empty: 1, 2
  bool is_only = true;      ///< then its verdicts stand at the top of the page
};

/// The id of a block, to link to.
[[nodiscard]] std::string block_id(std::size_t chapter, std::size_t block);

/// A sign beside the colour, for those who do not see it.
[[nodiscard]] std::string sign_of(Outcome outcome);

/// A verdict with everything it says.
[[nodiscard]] std::string html_verdict(const Statement& verdict);

/// A chapter, what matters first: verdicts, what was done, a short table, the figures, then the other tables.
/// What is long is folded: tables above a dozen rows, and in a report of several chapters all tables that
/// stand beside figures, figures after the second, and what verdicts rest on.
[[nodiscard]] std::string html_chapter(const Document& document, const ChapterPlace& place);

}  // namespace sfumato
