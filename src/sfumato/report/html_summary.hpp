#pragma once

#include <string>
#include <vector>

#include "sfumato/report/html_chapter.hpp"
#include "sfumato/report/report.hpp"

namespace sfumato {

/// The top of a page: title, what was released and asked, the answer, its cost, what to do, verdicts, the
/// numbers that decide, and the contents.
[[nodiscard]] std::string html_summary(const Report& report,
                                       const std::vector<ChapterPlace>& places);

}  // namespace sfumato
