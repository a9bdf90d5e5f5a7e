#include "sfumato/lab/ledger/trial.hpp"

#include "sfumato/core/error.hpp"

namespace sfumato::lab {

std::string_view name(TrialStatus status) {
  switch (status) {
    case TrialStatus::ok: return "ok";
    case TrialStatus::diverged: return "diverged";
    case TrialStatus::failed: return "failed";
  }
  throw InternalError("a trial status without a name");
}

}  // namespace sfumato::lab
