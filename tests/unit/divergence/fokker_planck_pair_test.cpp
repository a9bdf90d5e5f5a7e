// The golden values of Spec §12.3 and §12.4, orders of convergence, and refusals.
#include "sfumato/divergence/fokker_planck_pair.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <string>

#include "sfumato/divergence/gaussian_hockey_stick.hpp"
#include "sfumato/divergence/gaussian_kl.hpp"
#include "sfumato/sde/ou_distribution.hpp"
#include "support/fokker_planck_problems.hpp"

namespace sfumato {
namespace {

using Eigen::ArrayXd;
using Eigen::Matrix2d;
using Eigen::MatrixXd;
using Eigen::Vector2d;
using Eigen::VectorXd;

/// Golden values: 1e-6 relative on KL as their note expects with extrapolation, 1e-5 on integrals.
void expect_row(const PairAtTime& row, double time, double kl, double primal, double dual) {
  EXPECT_EQ(row.time, time);
  EXPECT_NEAR(row.forward.kl.value / kl, 1.0, 1e-6) << time;
  EXPECT_NEAR(row.forward.primal_bound.value / primal, 1.0, 1e-5) << time;
  EXPECT_NEAR(row.forward.dual_bound.value / dual, 1.0, 1e-5) << time;
  EXPECT_NEAR(row.forward.kl.value, kl, row.forward.kl.error + 1e-8) << time;
  EXPECT_LE(row.forward.kl.value, row.forward.minimum_bound.value) << time;
  EXPECT_LE(row.forward.minimum_bound.value,
            std::min(row.forward.primal_bound.value, row.forward.dual_bound.value) * (1 + 1e-9));
}

TEST(FokkerPlanckPair, GoldenDoubleWellWithEqualNoise) {
  const auto solution = solve_fokker_planck_pair(
      testing::double_well_p(), testing::double_well_q(0.64), {0.5, 1.0, 2.0, 5.0, 10.0});
  ASSERT_EQ(solution.rows.size(), 5U);
  const double kl[] = {0.013872469927817356, 0.030808576582867758, 0.056678915142096865,
                       0.11184551880365862, 0.15774166036835355};
  const double path[] = {0.022229470533913002, 0.045077509342579695, 0.0902474218401208,
                         0.21788000624318418, 0.41591883133215307};
  const double times[] = {0.5, 1.0, 2.0, 5.0, 10.0};
  for (std::size_t k = 0; k < 5; ++k) {
    expect_row(solution.rows[k], times[k], kl[k], path[k], path[k]);
  }
  EXPECT_LT(solution.mass_error, 1e-12);
  EXPECT_LT(solution.boundary_mass, 1e-13);
}

TEST(FokkerPlanckPair, GoldenDoubleWellWithUnequalNoise) {
  const auto solution = solve_fokker_planck_pair(testing::double_well_p(),
                                                 testing::double_well_q(0.8), {0.5, 2.0, 10.0});
  ASSERT_EQ(solution.rows.size(), 3U);
  expect_row(solution.rows[0], 0.5, 0.02015530754030019, 0.0313937663937706, 0.030016309398860797);
  expect_row(solution.rows[1], 2.0, 0.04661507168633094, 0.11302311821654795, 0.124472084621273);
  expect_row(solution.rows[2], 10.0, 0.11141081352124448, 0.5171042349407146, 0.6183646659481111);
}

// ERRATA row 1: the printed bound is 0 for this pair.
TEST(FokkerPlanckPair, GoldenMultiplicativeNoise) {
  const auto solution = solve_fokker_planck_pair(testing::multiplicative_p(),
                                                 testing::multiplicative_q(), {0.5, 1.0, 5.0});
  ASSERT_EQ(solution.rows.size(), 3U);
  expect_row(solution.rows[0], 0.5, 0.01213206137986912, 0.01660666409864848, 0.016668149587877587);
  expect_row(solution.rows[1], 1.0, 0.01771764559336336, 0.032732959844186026,
             0.029459846581874956);
  expect_row(solution.rows[2], 5.0, 0.019638199362627666, 0.16089795553617056, 0.1251030095157224);
}

TEST(FokkerPlanckPair, GoldenPlane) {
  FokkerPlanckOptions options;
  options.domain = {{-3.0, 3.0}, {-3.0, 3.0}};
  options.cells_per_axis = 112;
  const auto solution = solve_fokker_planck_pair(
      testing::double_well_2d(0.0, 0.0), testing::double_well_2d(0.2, 0.1), {1.0, 4.0}, options);
  ASSERT_EQ(solution.rows.size(), 2U);
  // The references are good to about 3e-6.
  EXPECT_NEAR(solution.rows[0].forward.kl.value, 0.033393792377932566, 1.5e-5);
  EXPECT_NEAR(solution.rows[1].forward.kl.value, 0.1364799589097742, 3e-5);
  EXPECT_NEAR(solution.rows[1].forward.kl.value, 0.1364799589097742,
              solution.rows[1].forward.kl.error);
  // The drifts differ by the constant (0.2, 0.1): the path bound is t |(0.2, 0.1)|^2 / (2 * 0.5).
  EXPECT_NEAR(solution.rows[1].forward.primal_bound.value, 0.2, 1e-10);
  EXPECT_NEAR(solution.rows[1].reverse.dual_bound.value, 0.2, 1e-10);
}

struct TwoOu {
  StartedDiffusion p = testing::ornstein_uhlenbeck(1.0, 0.3, 0.8, 0.2, 0.4);
  StartedDiffusion q = testing::ornstein_uhlenbeck(1.5, -0.2, 1.1, -0.1, 0.5);
  [[nodiscard]] static WhitenedPair exact(double time) {
    const auto one = [](double value) { return VectorXd::Constant(1, value); };
    const auto rate = [](double value) { return MatrixXd::Constant(1, 1, value); };
    return whiten_at(
        OuDistribution({rate(1.0), one(0.3), Isotropic{0.8, 1}}, {one(0.2), Isotropic{0.4, 1}}),
        OuDistribution({rate(1.5), one(-0.3), Isotropic{1.1, 1}}, {one(-0.1), Isotropic{0.5, 1}}),
        time);
  }
};

TEST(FokkerPlanckPair, OrnsteinUhlenbeckAgainstTheExactDistributions) {
  const TwoOu pair;
  FokkerPlanckOptions options;
  options.epsilons = {0.0, 0.5};
  const auto solution = solve_fokker_planck_pair(pair.p, pair.q, {0.0, 0.3, 4.0}, options);
  ASSERT_EQ(solution.rows.size(), 3U);
  for (const PairAtTime& row : solution.rows) {
    const WhitenedPair exact = TwoOu::exact(row.time);
    EXPECT_NEAR(row.forward.kl.value, gaussian_kl(exact).value.value(), 1e-7);
    EXPECT_NEAR(row.reverse.kl.value, gaussian_kl(swapped(exact)).value.value(), 1e-7);
    EXPECT_NEAR(row.forward.deltas[1].value, gaussian_hockey_stick(exact, 0.5).delta, 2e-5);
    EXPECT_NEAR(row.reverse.deltas[1].value, gaussian_hockey_stick(swapped(exact), 0.5).delta,
                2e-5);
    EXPECT_NEAR(row.total_variation.value, gaussian_hockey_stick(exact, 0.0).delta, 2e-5);
    EXPECT_EQ(row.forward.deltas[0].value, row.total_variation.value);
    EXPECT_GE(row.forward.minimum_bound.value, row.forward.kl.value - 1e-9);
    EXPECT_GE(row.reverse.minimum_bound.value, row.reverse.kl.value - 1e-9);
  }
  // The bounds begin at the entropy of the starts.
  EXPECT_NEAR(solution.rows[0].forward.primal_bound.value,
              gaussian_kl(TwoOu::exact(0.0)).value.value(), 1e-9);
}

TEST(FokkerPlanckPair, TwoLevelsAreSecondOrderAndThreeThird) {
  const TwoOu pair;
  const double exact = gaussian_kl(TwoOu::exact(0.7)).value.value();
  const auto error = [&](int levels, Eigen::Index cells) {
    FokkerPlanckOptions options;
    options.domain = {{-6.0, 6.0}};
    options.levels = levels;
    options.cells_per_axis = cells;
    options.steps_per_panel = cells / 10 / 4 * 4;
    const auto solution = solve_fokker_planck_pair(pair.p, pair.q, {0.7}, options);
    const GridEstimate& found = solution.rows.at(0).forward.kl;
    EXPECT_LT(std::abs(found.value - exact), found.error);
    return found.value - exact;
  };
  EXPECT_NEAR(error(2, 160) / error(2, 320), 4.0, 0.5);
  EXPECT_NEAR(error(3, 320) / error(3, 640), 8.0, 1.5);
}

TEST(FokkerPlanckPair, FullNoiseInThePlaneAgainstTheExactDistributions) {
  const Matrix2d s = (Matrix2d() << 1.0, 0.4, 0.4, 0.5).finished();
  const Matrix2d s2 = (Matrix2d() << 0.9, 0.2, 0.2, 0.6).finished();
  const Matrix2d a = (Matrix2d() << 2.0, 0.5, 0.5, 1.0).finished();
  const auto drift = [](const Vector2d& to) {
    return testing::on_plane([u = to(0), v = to(1)](double, double x, double y) {
      return std::pair(u - 2.0 * x - 0.5 * y, v - 0.5 * x - y);
    });
  };
  const GaussianDistribution start{Vector2d(0.3, 0.1), Isotropic{0.3, 2}};
  const Vector2d pull(0.2, 0.1);
  const Vector2d pull2(-0.1, 0.3);
  FokkerPlanckOptions options;
  options.cells_per_axis = 120;
  const auto solution =
      solve_fokker_planck_pair({{2, drift(pull), Covariance(Dense{s})}, start},
                               {{2, drift(pull2), Covariance(Dense{s2})}, start}, {0.8}, options);
  const WhitenedPair exact = whiten_at(OuDistribution({a, pull, Dense{s}}, start),
                                       OuDistribution({a, pull2, Dense{s2}}, start), 0.8);
  const double kl = gaussian_kl(exact).value.value();
  EXPECT_NEAR(solution.rows.at(0).forward.kl.value / kl, 1.0, 1e-3);
  EXPECT_NEAR(solution.rows.at(0).forward.kl.value, kl, solution.rows.at(0).forward.kl.error);
  EXPECT_FALSE(solution.to_grid.isIdentity(1e-3));
}

TEST(FokkerPlanckPair, CoefficientsMayDependOnTime) {
  // Sigma = 1 + t:  v_t = v_0 e^{-2t} + (1 + t)/2 - 1/4 - e^{-2t}/4, means relax to their targets.
  const auto scheduled = [](double target) {
    return testing::started(
        testing::on_line([=](double, double x) { return target - x; }),
        DiagonalNoise{testing::on_line([](double t, double) { return 1.0 + t; }),
                      testing::on_line([](double, double) { return 0.0; })},
        VectorXd::Zero(1), 0.3);
  };
  const auto solution = solve_fokker_planck_pair(scheduled(0.4), scheduled(-0.1), {2.0});
  const double decay = std::exp(-4.0);
  const double variance = 0.3 * decay + 1.5 - 0.25 - 0.25 * decay;
  const double gap = 0.5 * (1.0 - std::exp(-2.0));
  EXPECT_NEAR(solution.rows.at(0).forward.kl.value, gap * gap / (2.0 * variance), 1e-7);
  // Path bound: integral of 0.25 / (2 (1 + t)).
  EXPECT_NEAR(solution.rows.at(0).forward.primal_bound.value, 0.125 * std::log(3.0), 1e-7);
}

TEST(FokkerPlanckPair, IdenticalDistributionsGiveZero) {
  FokkerPlanckOptions options;
  options.cells_per_axis = 200;
  const auto solution = solve_fokker_planck_pair(testing::double_well_p(), testing::double_well_p(),
                                                 {0.0, 3.0}, options);
  for (const PairAtTime& row : solution.rows) {
    EXPECT_EQ(row.forward.kl.value, 0.0);
    EXPECT_EQ(row.reverse.primal_bound.value, 0.0);
    EXPECT_EQ(row.total_variation.value, 0.0);
  }
}

TEST(FokkerPlanckPair, PointStartsBeginAfterOneStep) {
  const auto at = [](double target) { return testing::ornstein_uhlenbeck(1.0, target, 1.0, 0, 0); };
  const double t0 = 0.01;
  StartedDiffusion p = at(0.5);
  StartedDiffusion q = at(-0.5);
  EXPECT_THROW((void)solve_fokker_planck_pair(p, q, {1.0}), InvalidArgument);
  // One Euler step from the origin: the drift is the target there, the noise is 1.
  p.start = {VectorXd::Constant(1, t0 * 0.5), Isotropic{t0, 1}};
  q.start = {VectorXd::Constant(1, t0 * -0.5), Isotropic{t0, 1}};
  FokkerPlanckOptions options;
  options.begin = t0;
  const auto solution = solve_fokker_planck_pair(p, q, {1.0}, options);
  // Spec §6.3, constant D = 1 and kappa = 1: KL = tanh(t / 2).
  EXPECT_NEAR(solution.rows.at(0).forward.kl.value, std::tanh(0.5), t0 * 0.05);
}

TEST(FokkerPlanckPair, ThreadsDoNotChangeABit) {
  FokkerPlanckOptions options;
  options.cells_per_axis = 200;
  options.keep_densities = true;
  options.threads = 1;
  const auto one = solve_fokker_planck_pair(testing::double_well_p(), testing::double_well_q(0.8),
                                            {1.0}, options);
  options.threads = 2;
  const auto two = solve_fokker_planck_pair(testing::double_well_p(), testing::double_well_q(0.8),
                                            {1.0}, options);
  EXPECT_EQ(one.rows[0].forward.kl.value, two.rows[0].forward.kl.value);
  EXPECT_EQ(one.rows[0].reverse.minimum_bound.value, two.rows[0].reverse.minimum_bound.value);
  ASSERT_EQ(one.rows[0].p.size(), 200);
  EXPECT_TRUE((one.rows[0].p == two.rows[0].p).all());
  EXPECT_TRUE((one.rows[0].q == two.rows[0].q).all());
  EXPECT_NEAR(mass(one.grid, one.rows[0].p), 1.0, 1e-12);
}

class Stopper : public Observer {
 public:
  explicit Stopper(std::uint64_t after) : after_(after) {}
  void progress(std::string_view, std::uint64_t done, std::uint64_t total) override {
    EXPECT_GT(done, done_);
    done_ = done;
    total_ = total;
  }
  [[nodiscard]] bool stop_requested() const override { return done_ >= after_; }
  std::uint64_t done_ = 0;
  std::uint64_t total_ = 0;
  std::uint64_t after_;
};

TEST(FokkerPlanckPair, ReportsProgressAndStops) {
  FokkerPlanckOptions options;
  options.cells_per_axis = 200;
  Stopper never(1'000'000);
  const auto whole = solve_fokker_planck_pair(testing::double_well_p(), testing::double_well_q(0.8),
                                              {1.0, 10.0}, options, &never);
  EXPECT_FALSE(whole.stopped);
  EXPECT_EQ(never.done_, never.total_);
  Stopper late(never.total_ - 10);
  const auto part = solve_fokker_planck_pair(testing::double_well_p(), testing::double_well_q(0.8),
                                             {1.0, 10.0}, options, &late);
  EXPECT_TRUE(part.rows.size() == 2U || part.stopped);
  Stopper soon(1);
  const auto none = solve_fokker_planck_pair(testing::double_well_p(), testing::double_well_q(0.8),
                                             {1.0, 10.0}, options, &soon);
  EXPECT_TRUE(none.stopped);
  EXPECT_TRUE(none.rows.empty());
}

TEST(FokkerPlanckPair, RefusesMassAtTheEndsWithTheMassFound) {
  FokkerPlanckOptions options;
  options.domain = {{-2.5, 3.0}};
  options.cells_per_axis = 200;
  const auto p = testing::double_well_p();
  try {
    (void)solve_fokker_planck_pair(p, testing::double_well_q(1.6), {5.0}, options);
    FAIL() << "a domain that cuts the distributions was accepted";
  } catch (const NumericalFailure& error) {
    EXPECT_NE(std::string(error.what()).find("at the ends of the domain"), std::string::npos)
        << error.what();
  }
}

TEST(FokkerPlanckPair, RefusesUnusableArguments) {
  const auto p = testing::double_well_p();
  const auto refuse = [&](const std::vector<double>& times, const FokkerPlanckOptions& options) {
    EXPECT_THROW((void)solve_fokker_planck_pair(p, p, times, options), InvalidArgument);
  };
  refuse({}, {});
  refuse({-1.0}, {});
  refuse({2.0, 1.0}, {});
  refuse({INFINITY}, {});
  FokkerPlanckOptions options;
  options.levels = 1;
  refuse({1.0}, options);
  options = {};
  options.cells_per_axis = 202;
  refuse({1.0}, options);
  options = {};
  options.steps_per_panel = -4;
  refuse({1.0}, options);
  options = {};
  options.threads = 0;
  refuse({1.0}, options);
  options = {};
  options.boundary_tolerance = 0.0;
  refuse({1.0}, options);
  options = {};
  options.domain = {{-3.0, 3.0}, {-3.0, 3.0}};
  refuse({1.0}, options);
  options = {};
  options.longest_panel = 0.0;
  refuse({1.0}, options);
  EXPECT_THROW((void)solve_fokker_planck_pair(p, testing::double_well_2d(0.0, 0.0), {1.0}),
               InvalidArgument);
  StartedDiffusion wrong = p;
  wrong.start.mean = Vector2d(0, 0);
  EXPECT_THROW((void)solve_fokker_planck_pair(wrong, p, {1.0}), InvalidArgument);
  StartedDiffusion space = p;
  space.diffusion.dimension = 3;
  EXPECT_THROW((void)solve_fokker_planck_pair(space, space, {1.0}), InvalidArgument);
}

TEST(FokkerPlanckPair, ClaimsAnEstimate) {
  const auto claimed = claimed_entropy({0.25, 1e-7});
  EXPECT_EQ(claimed.value.value(), 0.25);
  EXPECT_EQ(claimed.claim, Claim::estimate);
  ASSERT_EQ(claimed.assumptions.size(), 1U);
  EXPECT_NE(claimed.assumptions[0].find("1.0e-07"), std::string::npos);
}

}  // namespace
}  // namespace sfumato
