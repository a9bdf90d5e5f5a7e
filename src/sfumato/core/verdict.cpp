#include "sfumato/core/verdict.hpp"

#include "sfumato/core/error.hpp"

namespace sfumato {

std::string_view name(Verdict verdict) {
  switch (verdict) {
    case Verdict::none: return "none";
    case Verdict::holds: return "holds";
    case Verdict::not_refuted: return "not_refuted";
    case Verdict::open: return "open";
    case Verdict::violated: return "violated";
  }
  throw InternalError("a verdict without a name");
}

}  // namespace sfumato
