#pragma once

#include <cstdint>
#include <string>

#include "sfumato/core/observer.hpp"
#include "sfumato/data/keys/key.hpp"
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

}  // namespace sfumato::lab
