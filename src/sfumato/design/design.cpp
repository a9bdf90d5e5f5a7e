#include "sfumato/design/design.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sfumato/core/check.hpp"

namespace sfumato {

std::string_view name(DesignForm form) {
  switch (form) {
    case DesignForm::isotropic: return "isotropic";
    case DesignForm::grouped: return "grouped";
    case DesignForm::diagonal: return "diagonal";
    case DesignForm::full: return "full";
    case DesignForm::low_rank: return "low_rank";
  }
  throw InternalError("unknown form of a design");
}

std::string_view describe(DesignWarning warning) {
  switch (warning) {
    case DesignWarning::rank_deficient:
      return "the optimum is singular: a difference outside the span of the given ones has "
             "infinite "
             "risk; use a floor or a regularisation";
    case DesignWarning::silent_coordinates:
      return "some coordinates get no noise because no given difference touches them; use a floor "
             "or a regularisation";
    case DesignWarning::dropped_direction:
      return "a difference has a component too small to be told from rounding, so its risk counts "
             "as infinite; use a floor or a regularisation";
    case DesignWarning::not_converged:
      return "the gap is above the tolerance; allow more iterations";
  }
  throw InternalError("unknown warning of a design");
}

double stated_gap(const Design& design) {
  if (!std::isfinite(design.gap)) return design.gap;
  const double gap = std::max(design.gap, 1e-12);
  const double unit = std::pow(10.0, std::floor(std::log10(gap)));
  return std::ceil(gap / unit) * unit;
}

Claimed<double> claimed_value(const Design& design) {
  const std::string method =
      design.objective > design.value ? "cost of this noise, which is optimal for a larger cost"
      : design.iterations == 0
          ? "optimal noise, closed form"
          : fmt::format("optimal noise, certified to a relative gap of {:.0e}", stated_gap(design));
  return {design.value,
          Claim::exact,
          method,
          {"the covariance is public: chosen without the private data"}};
}

Design rescaled(const Design& design, double factor) {
  require_positive("factor", factor);
  Design other = design;
  other.covariance = scaled(design.covariance, factor);
  other.budget *= factor;
  for (double* value :
       {&other.value, &other.objective, &other.lower_bound, &other.isotropic_value}) {
    *value /= factor;
  }
  if (other.diagonal_value) *other.diagonal_value /= factor;
  return other;
}

}  // namespace sfumato
