#pragma once

#include <cstdint>
#include <string>

#include "lab/study/spec/study.hpp"
#include "sfumato/core/observer.hpp"
#include "sfumato/data/keys/key.hpp"
#include "sfumato/lab/ledger/ledger.hpp"
#include "sfumato/report/document.hpp"

namespace sfumato::lab {

/// Write a ledger with its looks to a new file of today's format, also while a run adds to it.
struct StudyCopyQuestion {
  std::string ledger;  ///< file
  std::string copy;    ///< file to make
};

[[nodiscard]] const Keys<StudyCopyQuestion>& study_copy_keys();

struct StudyCopyAnswer {
  StudyCopyQuestion question;
  std::uint64_t trials = 0, looks = 0;  ///< in the copy
};

/// Throws   as Ledger::read() and Ledger::copy_to().
[[nodiscard]] StudyCopyAnswer answer(const StudyCopyQuestion& question, Observer& observer);

[[nodiscard]] Document document_of(const StudyCopyAnswer& answer, Detail detail);

/// The study that the ledger was made for. Its trials are the study's: whoever reads them may use their
/// policy, pair and replica as numbers of it.
///
/// Throws   InvalidArgument with the ledger's path if a trial is of a policy, pair or replica that the study
///          has not, and as parse_study().
[[nodiscard]] Study study_of(const Ledger& ledger);

}  // namespace sfumato::lab
