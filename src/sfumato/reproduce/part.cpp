#include "sfumato/reproduce/part.hpp"

#include "sfumato/core/error.hpp"

namespace sfumato {

std::string_view name(RunScale scale) {
  switch (scale) {
    case RunScale::quick: return "quick";
    case RunScale::paper: return "paper";
  }
  throw InternalError("unknown scale");
}

std::string_view name(Verdict verdict) {
  switch (verdict) {
    case Verdict::holds: return "holds";
    case Verdict::does_not_hold: return "does not hold";
    case Verdict::depends: return "depends";
  }
  throw InternalError("unknown verdict");
}

Verdict verdict_of(std::size_t confirmed, std::size_t total) {
  if (total == 0 || confirmed > total) throw InternalError("a verdict needs cases");
  if (confirmed == total) return Verdict::holds;
  return confirmed == 0 ? Verdict::does_not_hold : Verdict::depends;
}

const std::vector<Part>& reproduction_parts() {
  static const std::vector<Part> parts = {
      {"figure1", "Figure 1: privacy and accuracy over the noise plane", reproduce_figure1},
      {"figure2", "Figure 2: the best noise for a loss of accuracy", reproduce_figure2},
      {"figure3", "Figure 3: quadratic objective, condition numbers 10 and 100", reproduce_figure3},
  };
  return parts;
}

}  // namespace sfumato
