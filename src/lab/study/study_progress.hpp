#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lab/study/spec/study.hpp"
#include "sfumato/lab/ledger/ledger.hpp"
#include "sfumato/lab/study/study_status.hpp"
#include "sfumato/report/document.hpp"

namespace sfumato::lab {

/// Throws   InvalidArgument as Ledger::for_each().
[[nodiscard]] StudyProgress progress_of(const Study& study, const Ledger& ledger);

/// Tables of the policies, where there are few or everything is wanted, and of what failed.
void add_progress(Document& document, const StudyProgress& progress, Detail detail);

}  // namespace sfumato::lab
