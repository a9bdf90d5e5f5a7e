// Randomised response against 50 digits.
#include <gtest/gtest.h>

#include <string>

#include "sfumato/account/accountant/profile.hpp"
#include "sfumato/account/lattice/pld.hpp"
#include "sfumato/core/infinity.hpp"
#include "support/accounting_reference.hpp"
#include "support/accounting_transforms.hpp"

namespace sfumato {
namespace {

using namespace reference;

/// k answers, each true with odds e^eps0: j of them are with probability binom(k, j) p^j (1 - p)^(k - j).
Real many_answers(double eps0, int k, double eps) {
  const Real p = 1 / (1 + exp(-Real(eps0)));
  Real sum = 0, binomial = 1;
  for (int j = 0; j <= k; ++j) {
    const Real gain = 1 - exp(Real(eps) - (2 * j - k) * Real(eps0));
    if (gain > 0) sum += binomial * pow(p, j) * pow(1 - p, k - j) * gain;
    binomial = binomial * (k - j) / (j + 1);
  }
  return sum;
}

TEST(RandomisedResponse, ManyAnswersAreABinomialSum) {
  for (const double eps0 : {0.05, 0.5, 2.0}) {
    for (const int k : {2, 7, 30}) {
      for (const double share : {0.0, 0.13, 0.41}) {
        const double eps = share * k * eps0;
        const std::string what = std::to_string(eps0) + " " + std::to_string(eps);
        const TotalLoss loss{{RandomisedResponse{eps0, static_cast<double>(k)}}};
        expect_inside(delta_of(loss, eps).log, many_answers(eps0, k, eps), 0.5, what);
        expect_inside(pld_delta(loss, eps, {std::size_t{1} << 13}), many_answers(eps0, k, eps),
                      kInf, what);
      }
    }
  }
}

}  // namespace
}  // namespace sfumato
