#pragma once

#include <set>
#include <string>
#include <vector>

#include "sfumato/core/observer.hpp"
#include "sfumato/core/verdict.hpp"
#include "sfumato/data/keys/key.hpp"

namespace sfumato::apps {

/// Does this build give the reference values of a golden file (Spec §15)?
struct VerifyQuestion {
  std::string file;                   ///< JSON
  std::vector<std::string> sections;  ///< of the specification; empty: all
  bool strict = false;                ///< cases of functions that this build does not know fail too
};

[[nodiscard]] const Keys<VerifyQuestion>& verify_keys();

/// A number outside its tolerance, or a case that gave none.
struct VerifyFailure {
  std::string id;      ///< of the case
  std::string output;  ///< which of its outputs: "delta[3]"; empty: all
  double expected = 0.0;
  double got = 0.0;          ///< NaN where there is none
  double tolerance = 0.0;    ///< largest difference allowed
  std::string refusal = {};  ///< what the function said where it gave no number at all
};

struct VerifyAnswer {
  VerifyQuestion question;
  int passed = 0;
  int failed = 0;
  int skipped = 0;
  std::set<std::string> unknown = {};  ///< functions of skipped cases
  std::vector<VerifyFailure> failures = {};
  Verdict verdict = Verdict::none;  ///< holds, or violated
};

/// Compares every case, with the functions of the library. Stopped by the observer it judges the cases so far.
///
/// Throws   InvalidArgument with the file if it is no golden file, a case is not well formed, or none is left.
[[nodiscard]] VerifyAnswer answer(const VerifyQuestion& question, Observer& observer);

}  // namespace sfumato::apps
