#pragma once

#include "lab/study/spec/study.hpp"
#include "sfumato/lab/ledger/ledger.hpp"

namespace sfumato::lab {

/// The study that the ledger was made for. Its trials are the study's: whoever reads them may use their
/// policy, pair and replica as numbers of it.
///
/// Throws   InvalidArgument with the ledger's path if a trial is of a policy, pair or replica that the study
///          has not, and as parse_study().
[[nodiscard]] Study study_of(const Ledger& ledger);

}  // namespace sfumato::lab
