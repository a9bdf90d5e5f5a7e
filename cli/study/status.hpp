#pragma once

#include "sfumato/report/document.hpp"
#include "sfumato/study/ledger/ledger.hpp"
#include "sfumato/study/spec/study.hpp"

namespace sfumato::cli {

/// How far a ledger is, policy by policy, and what failed. Returns the mean seconds of a trial, 0 if
/// there is none.
double add_progress(Document& document, const Study& study, const Ledger& ledger);

}  // namespace sfumato::cli
