#include "sfumato/audit/auc.hpp"

#include <fmt/format.h>

#include <boost/math/special_functions/erf.hpp>
#include <cmath>
#include <numbers>

#include "sfumato/core/check.hpp"

namespace sfumato {

ProbabilityInterval auc_interval(double auc, std::uint64_t members, std::uint64_t non_members,
                                 double confidence) {
  require_probability("auc", auc);
  if (members == 0 || non_members == 0) {
    throw InvalidArgument("a group has no scores", "Pass scores of members and of non-members");
  }
  if (!(confidence > 0.0 && confidence < 1.0)) {
    throw InvalidArgument(fmt::format("confidence = {} is not between 0 and 1", confidence),
                          "Pass a probability such as 0.95");
  }
  const double z = std::numbers::sqrt2 * boost::math::erfc_inv(1.0 - confidence);
  const auto m = static_cast<double>(members), n = static_cast<double>(non_members);
  const double others = 0.5 * (m + n) - 1.0;
  const auto variance = [&](double t) {
    return t * (1.0 - t) * (1.0 + others * ((1.0 - t) / (2.0 - t) + t / (1.0 + t))) / (m * n);
  };
  // (auc - t)^2 = z^2 variance(t) has one root on each side of auc.
  const auto root = [&](double inside, double outside) {
    for (int i = 0; i < 100; ++i) {
      const double middle = 0.5 * (inside + outside);
      const double gap = auc - middle;
      (gap * gap <= z * z * variance(middle) ? inside : outside) = middle;
    }
    return outside;
  };
  return {auc > 0.0 ? root(auc, 0.0) : 0.0, auc < 1.0 ? root(auc, 1.0) : 1.0};
}

}  // namespace sfumato
