#pragma once

#include "sfumato/answers/study/run.hpp"
#include "sfumato/answers/study/status.hpp"
#include "sfumato/data/keys/key.hpp"

namespace sfumato {

/// All but `settings`: key=value over the keys of the study.
[[nodiscard]] const Keys<StudyRunQuestion>& study_run_keys();
[[nodiscard]] const Keys<StudyStatusQuestion>& study_status_keys();

}  // namespace sfumato
