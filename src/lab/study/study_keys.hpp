#pragma once

#include "sfumato/report/document.hpp"

namespace sfumato::lab {

/// The keys of study files with their defaults, a table for each table of the file.
[[nodiscard]] Document study_keys_document();

}  // namespace sfumato::lab
