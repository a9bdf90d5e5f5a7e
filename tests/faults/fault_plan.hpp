#pragma once

namespace sfumato::faults {

/// What becomes of a call.
enum class Fate {
  as_always,
  fails,  ///< as FAULT_WITH says: no room, an error of the disk, half of what was asked for
  kills,  ///< the process ends here, as by kill -9
  tears,  ///< half of the bytes are written, then the process ends
};

/// Counts a call and says what becomes of it. Which one is chosen is said in the environment, from
/// which it is read as `main` begins; before that, while libraries start, nothing is counted.
///
///   FAULT_AT       the number of the call that is chosen, from 1; 0: none is
///   FAULT_FOREVER  1: every later one as well
///   FAULT_ONLY     names of functions, such as rename,fsync: calls of others are not counted
///   FAULT_WITH     EIO, ENOSPC, short, kill or torn; without, EIO
///   FAULT_COUNTS   a file of 16 bytes to which two 64-bit numbers are written: calls, and those chosen.
///                  It is mapped, so that they are there whatever ends the process.
[[nodiscard]] Fate next_call(const char* function = "");

/// Whether FAULT_WITH is `word`.
[[nodiscard]] bool fault_is(const char* word);

}  // namespace sfumato::faults
