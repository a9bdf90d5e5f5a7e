// Spec §12.3: implicit steps of random Markov chains keep mass and sign, and solve their equation.
#include <gtest/gtest.h>

#include <cmath>

#include "sfumato/sde/fokker_planck/scheme.hpp"
#include "support/random_problem.hpp"

namespace sfumato {
namespace {

using Eigen::ArrayXd;
using Eigen::Index;
using testing::RandomProblem;

TEST(ImplicitEulerProperty, KeepsMassAndSignAndSolvesTheEquation) {
  for (std::uint64_t seed = 1; seed <= 1500; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    RandomProblem random(seed);
    const Index cells = random.integer(2, 60);
    const Index lines = random.integer(1, 9);
    const double dt = random.log_uniform(1e-6, 1e6);
    FaceCoefficients faces{ArrayXd((cells - 1) * lines), ArrayXd((cells - 1) * lines)};
    for (double& drift : faces.flux_drift) drift = random.normal() * random.log_uniform(1e-2, 1e3);
    for (double& variance : faces.variance) variance = random.log_uniform(1e-2, 1e2);
    const double width = random.log_uniform(1e-2, 1.0);
    const JumpRates rates = jump_rates(faces, width);
    ASSERT_GE(std::min(rates.up.minCoeff(), rates.down.minCoeff()), 0.0);

    ArrayXd before(cells * lines);
    for (double& p : before) p = random.integer(0, 3) == 0 ? 0.0 : random.log_uniform(1e-30, 1.0);
    ArrayXd after = before;
    ImplicitEuler step;
    step.factor(rates, dt, cells, lines);
    step.solve(after.data());
    ASSERT_GE(after.minCoeff(), 0.0);
    for (Index l = 0; l < lines; ++l) {
      double mass_before = 0.0;
      double mass_after = 0.0;
      for (Index i = 0; i < cells; ++i) {
        const Index at = i * lines + l;
        mass_before += before(at);
        mass_after += after(at);
        // p_new - dt Q p_new = p_old, relative to the terms of the row.
        const double up_in = i > 0 ? rates.up(at - lines) * after(at - lines) : 0.0;
        const double down_in = i + 1 < cells ? rates.down(at) * after(at + lines) : 0.0;
        const double out =
            ((i + 1 < cells ? rates.up(at) : 0.0) + (i > 0 ? rates.down(at - lines) : 0.0)) *
            after(at);
        const double residual = after(at) - dt * (up_in + down_in - out) - before(at);
        const double scale = after(at) + before(at) + dt * (up_in + down_in + out);
        ASSERT_LE(std::abs(residual), 1e-14 * scale + 1e-300);
      }
      ASSERT_NEAR(mass_after, mass_before, 1e-13 * mass_before);
    }
  }
}

}  // namespace
}  // namespace sfumato
