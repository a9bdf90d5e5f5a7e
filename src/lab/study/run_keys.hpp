#pragma once

#include "sfumato/data/keys/key.hpp"
#include "sfumato/lab/study/run_answer.hpp"
#include "sfumato/lab/study/study_status.hpp"

namespace sfumato::lab {

/// All but `settings`: key=value over the keys of the study.
[[nodiscard]] const Keys<StudyRunQuestion>& study_run_keys();
[[nodiscard]] const Keys<StudyStatusQuestion>& study_status_keys();

}  // namespace sfumato::lab
