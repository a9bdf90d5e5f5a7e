#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sfumato/answers/study/status.hpp"
#include "sfumato/report/document.hpp"
#include "sfumato/study/ledger/ledger.hpp"
#include "sfumato/study/spec/study.hpp"

namespace sfumato {

/// Throws   InvalidArgument as Ledger::for_each().
[[nodiscard]] StudyProgress progress_of(const Study& study, const Ledger& ledger);

/// Tables of the policies, where there are few or everything is wanted, and of what failed.
void add_progress(Document& document, const StudyProgress& progress, Detail detail);

}  // namespace sfumato
