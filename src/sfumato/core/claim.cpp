#include "sfumato/core/claim.hpp"

#include "sfumato/core/error.hpp"

namespace sfumato {

std::string_view symbol(Claim claim) {
  switch (claim) {
    case Claim::exact: return "=";
    case Claim::upper_bound: return "<=";
    case Claim::lower_bound: return ">=";
    case Claim::estimate: return "~";
  }
  throw InternalError("unknown claim");
}

std::string_view name(Claim claim) {
  switch (claim) {
    case Claim::exact: return "exact";
    case Claim::upper_bound: return "upper_bound";
    case Claim::lower_bound: return "lower_bound";
    case Claim::estimate: return "estimate";
  }
  throw InternalError("unknown claim");
}

}  // namespace sfumato
