#pragma once

#include "sfumato/data/keys/key.hpp"
#include "sfumato/lab/study/run_answer.hpp"
#include "sfumato/lab/study/study_status.hpp"
#include "sfumato/report/document.hpp"

namespace sfumato::lab {

/// The keys of study files with their defaults, a table for each table of the file.
[[nodiscard]] Document study_keys_document();

/// All but `settings`: key=value over the keys of the study.
[[nodiscard]] const Keys<StudyRunQuestion>& study_run_keys();
[[nodiscard]] const Keys<StudyStatusQuestion>& study_status_keys();

}  // namespace sfumato::lab
