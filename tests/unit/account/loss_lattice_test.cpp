#include "sfumato/account/lattice/loss_lattice.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "sfumato/account/lattice/loss_distribution.hpp"

namespace sfumato {
namespace {

using enum StepDirection;

TEST(LossLattice, KeepsTheMassesOfPAndQ) {
  for (const StepLoss& step : std::vector<StepLoss>{
           SampledGaussian{.1, 1, 1, remove}, SampledGaussian{.1, 1, 1, add},
           SampledGaussian{.1, 1, 1, replace}, GroupGaussian{.1, .5, 3, 1, remove},
           TwoSidedGaussian{.1, 1, 1}, LaplaceStep{1.0, 1}, RandomisedResponse{1.0, 1}}) {
    const LossDistribution distribution = loss_distribution_of(step);
    const double h = 0.01;
    const LatticeRange range{h, -2000, 4000};
    for (const LatticeDistribution& lattice :
         {upper_lattice(distribution, range), lower_lattice(distribution, range)}) {
      double p = lattice.infinite, q = 0.0;
      for (std::size_t i = 0; i < lattice.mass.size(); ++i) {
        const double loss = h * static_cast<double>(lattice.first + static_cast<std::int64_t>(i));
        p += lattice.mass[i];
        q += lattice.mass[i] * std::exp(-loss);
      }
      EXPECT_NEAR(p, 1.0, 1e-10) << step.index();
      EXPECT_NEAR(q, 1.0, 1e-4) << step.index();
    }
    // In convex order: E_P e^L is larger above and smaller below.
    const auto moment = [&](const LatticeDistribution& lattice) {
      double sum = 0.0;
      for (std::size_t i = 0; i < lattice.mass.size(); ++i) {
        sum += lattice.mass[i] *
               std::exp(h * static_cast<double>(lattice.first + static_cast<std::int64_t>(i)));
      }
      return sum;
    };
    EXPECT_LE(moment(lower_lattice(distribution, range)),
              moment(upper_lattice(distribution, range)) * (1.0 + 1e-12));
  }
}

}  // namespace
}  // namespace sfumato
