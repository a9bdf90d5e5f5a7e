#pragma once

#include <cstdint>
#include <string>

#include "sfumato/data/keys/key.hpp"
#include "sfumato/lab/study/run_answer.hpp"
#include "sfumato/lab/study/study_status.hpp"
#include "sfumato/report/document.hpp"

namespace sfumato::lab {

/// What everything that is made of a study's models says of them: noise that a seed repeats protects nobody.
[[nodiscard]] std::string seed_notice(std::uint64_t seed);

/// The keys of study files with their defaults, a table for each table of the file.
[[nodiscard]] Document study_keys_document();

/// All but `settings`: key=value over the keys of the study.
[[nodiscard]] const Keys<StudyRunQuestion>& study_run_keys();
[[nodiscard]] const Keys<StudyStatusQuestion>& study_status_keys();

}  // namespace sfumato::lab
