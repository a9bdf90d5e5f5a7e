#include "sfumato/rows/classification_rows.hpp"

#include <gtest/gtest.h>

#include <Eigen/LU>
#include <array>
#include <cmath>

#include "sfumato/core/infinity.hpp"
#include "sfumato/divergence/classification_pair.hpp"
#include "sfumato/divergence/noisy_gd_gdp.hpp"
#include "sfumato/divergence/stationary_pair.hpp"
#include "sfumato/risk/chain_convexity.hpp"
#include "sfumato/rows/neighbour_bounds.hpp"

namespace sfumato {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

MatrixXd features() {
  return (MatrixXd(6, 2) << 1.0, 0.2, -0.4, 1.0, 2.0, -1.0, 0.3, 0.3, -1.5, 0.8, 0.0, -2.0)
      .finished();
}

ClassificationFit fit_of(const RidgeOptions& options) {
  return ClassificationFit(ClassificationProblem::logistic(
      features(), (VectorXd(6) << 1, 0, 1, 0, 0, 1).finished(), options));
}

RowRiskOptions options_for(Release release) {
  return {std::move(release), std::nullopt, {Epsilon{0.5}}, Delta{1e-3}, 1};
}

FlowRelease flow(double time, Covariance noise) {
  return {time, std::move(noise), point_distribution(VectorXd::Zero(2))};
}
ChainRelease chain(double eta, double steps, Covariance noise) {
  return {eta, steps, std::move(noise), point_distribution(VectorXd::Zero(2))};
}
Covariance correlated() { return Dense{(MatrixXd(2, 2) << 1.0, 0.3, 0.3, 0.8).finished()}; }

TEST(ClassificationRows, FlowTakesTheSmallerOfKlAndMu) {
  Observer observer;
  const ClassificationFit fit = fit_of({LossScale::sum, 0.5});
  for (const double time : {0.3, kInf}) {
    const ClassificationRows found =
        row_bounds(fit, options_for(flow(time, Isotropic{2.0, 2})), observer);
    EXPECT_TRUE(found.notes.empty());
    for (Index row = 0; row < 6; ++row) {
      const RowRisk& risk = found.rows[static_cast<std::size_t>(row)];
      ASSERT_EQ(risk.status, RowStatus::ok);
      // Spec §6.4 by hand: S = |x| / sigma, kappa = 1/2.
      const double mu =
          features().row(row).norm() / std::sqrt(2.0) * std::sqrt(4.0 * std::tanh(0.25 * time));
      EXPECT_NEAR(risk.mu.value, mu, 1e-10);
      EXPECT_GE(risk.mu.value, mu * (1.0 - 1e-15));
      const std::array<Neighbour, 1> one = {Neighbour{row, {}}};
      const auto constants =
          classification_constants(fit, fit.gap(one[0]), fit.neighbours(one).front(), 2.0,
                                   point_distribution(VectorXd::Zero(2)));
      // In the long run, the curvature near the minimiser bounds them too.
      StationaryBound local{kInf, kInf, {}};
      if (time == kInf) {
        local = StationaryPairs(fit, 2.0, {}, observer)
                    .bounds(std::array<Index, 1>{row}, observer)
                    .front();
      }
      EXPECT_EQ(risk.forward.kl.value,
                std::min({0.5 * risk.mu.value * risk.mu.value, local.forward,
                          kl_bound_finite_time(constants.forward, time).kl.value.value()}));
      EXPECT_EQ(risk.reverse.kl.value,
                std::min({0.5 * risk.mu.value * risk.mu.value, local.reverse,
                          kl_bound_finite_time(constants.reverse, time).kl.value.value()}));
      EXPECT_EQ(risk.advantage.claim, Claim::upper_bound);
      EXPECT_EQ(risk.forward.delta[0].claim, Claim::upper_bound);
    }
  }
}

TEST(ClassificationRows, ChainTakesTheSmallerOfKlAndMu) {
  Observer observer;
  const ClassificationFit fit = fit_of({LossScale::sum, 0.5});
  const double eta = 0.1;
  for (const double steps : {1.0, 20.0, kInf}) {
    const ClassificationRows found =
        row_bounds(fit, options_for(chain(eta, steps, Isotropic{2.0, 2})), observer);
    EXPECT_TRUE(found.notes.empty());
    for (Index row = 0; row < 6; ++row) {
      const RowRisk& risk = found.rows[static_cast<std::size_t>(row)];
      const double sensitivity = features().row(row).norm() * std::sqrt(eta / 2.0);
      const double mu = noisy_gd_gdp(sensitivity, 1.0 - eta * 0.5, steps).mu.value;
      EXPECT_NEAR(risk.mu.value, mu, 1e-9);
      const std::array<Neighbour, 1> one = {Neighbour{row, {}}};
      const auto constants =
          classification_constants(fit, fit.gap(one[0]), fit.neighbours(one).front(), 2.0,
                                   point_distribution(VectorXd::Zero(2)));
      EXPECT_EQ(risk.forward.kl.value,
                std::min(0.5 * risk.mu.value * risk.mu.value,
                         kl_bound_chain(constants.forward, eta, steps).kl.value.value()));
    }
  }
}

TEST(ClassificationRows, ReleaseOfTheMinimiserIsAGaussianMechanism) {
  Observer observer;
  const ClassificationFit fit = fit_of({LossScale::sum, 0.5});
  for (const Covariance& noise : {Covariance{Isotropic{0.09, 2}}, correlated()}) {
    const auto rows = row_bounds(fit, options_for(MinimiserRelease{noise}), observer).rows;
    for (Index row = 0; row < 6; ++row) {
      const Convexity other = convexity(fit.problem().neighbour(row, {}));
      const VectorXd shift = other.minimiser - fit.convexity().minimiser;
      const double mu = std::sqrt(shift.dot(dense(noise).inverse() * shift));
      const double got = rows[static_cast<std::size_t>(row)].mu.value;
      EXPECT_GE(got, mu * (1.0 - 1e-12));
      EXPECT_LT(got, mu * (1.0 + 1e-3));  // the tolerance of the neighbours' minimisers
    }
  }
}

TEST(ClassificationRows, WithoutAnisotropicConstantsOnlyMuIsLeft) {
  Observer observer;
  const ClassificationFit fit = fit_of({LossScale::sum, 5.0});
  for (const Release& release :
       {Release{flow(1.0, correlated())}, Release{flow(kInf, correlated())},
        Release{chain(0.05, 10.0, correlated())}}) {
    const ClassificationRows found = row_bounds(fit, options_for(release), observer);
    ASSERT_FALSE(found.notes.empty());
    EXPECT_NE(found.notes[0].find("not isotropic"), std::string::npos);
    for (const RowRisk& risk : found.rows) {
      EXPECT_NEAR(risk.forward.kl.value, 0.5 * risk.mu.value * risk.mu.value, 1e-12);
    }
  }
}

// N stays when a row is removed, so a ridge times N is a fixed ridge, and the mean a sum in other units of
// time: sum over N with the noise divided by N^2, N times as long.
TEST(ClassificationRows, TheMeanIsTheSumInOtherUnits) {
  Observer observer;
  const ClassificationFit grows = fit_of({LossScale::sum, 0.2, RidgeScale::times_rows});
  const double n = static_cast<double>(grows.problem().rows());
  const ClassificationFit fixed = fit_of({LossScale::sum, 0.2 * n});
  const ClassificationFit mean = fit_of({LossScale::mean, 0.2});
  const auto rows = [&](const ClassificationFit& fit, double variance) {
    return row_bounds(fit, options_for(flow(kInf, Isotropic{variance, 2})), observer).rows;
  };
  const auto of_sum = rows(grows, 2.0), of_fixed = rows(fixed, 2.0), of_mean = rows(mean, 2.0 / n);
  for (std::size_t i = 0; i < of_sum.size(); ++i) {
    EXPECT_NEAR(of_sum[i].mu.value, of_fixed[i].mu.value, 1e-9);
    EXPECT_NEAR(of_sum[i].mu.value, of_mean[i].mu.value, 1e-9);
    EXPECT_NEAR(of_sum[i].forward.kl.value, of_mean[i].forward.kl.value, 1e-8);
  }
}

TEST(ClassificationRows, ReplacingARowByItselfIsNoRisk) {
  Observer observer;
  const ClassificationFit fit = fit_of({LossScale::mean, 0.1});
  RowRiskOptions options = options_for(flow(kInf, Isotropic{0.1, 2}));
  options.replacement = fit.problem().record(2);
  const auto rows = row_bounds(fit, options, observer).rows;
  EXPECT_EQ(rows[2].advantage.value, 0.0);
  EXPECT_GT(rows[1].advantage.value, 0.0);
}

TEST(ClassificationRows, NothingHasHappenedAtTheStart) {
  Observer observer;
  const ClassificationFit fit = fit_of({LossScale::sum, 0.5});
  for (const Release& release :
       {Release{flow(0.0, Isotropic{1.0, 2})}, Release{chain(0.1, 0.0, Isotropic{1.0, 2})}}) {
    for (const RowRisk& risk : row_bounds(fit, options_for(release), observer).rows) {
      EXPECT_EQ(risk.forward.kl.value, 0.0);
      EXPECT_EQ(risk.advantage.value, 0.0);
    }
  }
}

TEST(ClassificationRows, WithoutRidgeTheLongRunIsRefused) {
  Observer observer;
  // Overlapping classes, so that a minimiser exists.
  const ClassificationFit fit(ClassificationProblem::logistic(
      MatrixXd::Constant(8, 1, 1.0), (VectorXd(8) << 1, 0, 1, 0, 0, 1, 1, 0).finished(), {}));
  const auto start = point_distribution(VectorXd::Zero(1));
  const Isotropic noise{1.0, 1};
  const auto message = [&](const Release& release) -> std::string {
    try {
      (void)row_bounds(fit, options_for(release), observer);
    } catch (const NumericalFailure& failure) {
      return failure.what();
    }
    return {};
  };
  EXPECT_NE(message(FlowRelease{kInf, noise, start}).find("`ridge`"), std::string::npos);
  EXPECT_NE(message(ChainRelease{0.1, kInf, noise, start}).find("`ridge`"), std::string::npos);
  EXPECT_EQ(message(FlowRelease{1.0, noise, start}), "");
  const auto rows = row_bounds(fit, options_for(FlowRelease{2.0, noise, start}), observer);
  EXPECT_NEAR(rows.rows[0].mu.value, std::sqrt(2.0), 1e-10);  // S sqrt(t)
}

TEST(ClassificationRows, ANeighbourWithoutAMinimiserKeepsItsMu) {
  Observer observer;
  // Only row 0 keeps the classes from being separated; D has a minimiser, D' without it has none.
  const MatrixXd x = (MatrixXd(4, 1) << -1.0, 1.0, 2.0, -3.0).finished();
  const ClassificationFit fit(
      ClassificationProblem::logistic(x, (VectorXd(4) << 1, 1, 1, 0).finished(), {}));
  const auto start = point_distribution(VectorXd::Zero(1));
  const auto flow_rows =
      row_bounds(fit, options_for(FlowRelease{2.0, Isotropic{1.0, 1}, start}), observer).rows;
  EXPECT_EQ(flow_rows[0].status, RowStatus::ok);
  EXPECT_NEAR(flow_rows[0].mu.value, std::sqrt(2.0), 1e-10);
  EXPECT_NEAR(flow_rows[0].forward.kl.value, 1.0, 1e-9);
  EXPECT_EQ(flow_rows[1].status, RowStatus::ok);
  const auto released =
      row_bounds(fit, options_for(MinimiserRelease{Isotropic{1.0, 1}}), observer).rows;
  EXPECT_EQ(released[0].status, RowStatus::no_model);
  EXPECT_EQ(released[1].status, RowStatus::ok);
}

TEST(ClassificationRows, StepsThatAreTooLongFallBackToTheCompositionOfAll) {
  Observer observer;
  const ClassificationFit fit = fit_of({LossScale::sum, 0.5});
  const double eta = 3.0 / fit.convexity().lipschitz;
  const ClassificationRows found =
      row_bounds(fit, options_for(chain(eta, 9.0, Isotropic{1.0, 2})), observer);
  ASSERT_EQ(found.notes.size(), 1U);
  EXPECT_NE(found.notes[0].find("constant 1 is used"), std::string::npos);
  EXPECT_NEAR(found.rows[0].mu.value, 3.0 * std::sqrt(eta) * features().row(0).norm(), 1e-9);
  EXPECT_THROW((void)row_bounds(fit, options_for(chain(eta, kInf, Isotropic{1.0, 2})), observer),
               NumericalFailure);
}

TEST(ClassificationRows, RefusesWhatItCannotUse) {
  Observer observer;
  const ClassificationFit fit = fit_of({LossScale::sum, 0.5});
  const auto run = [&](const RowRiskOptions& options) { (void)row_bounds(fit, options, observer); };
  EXPECT_THROW(run(options_for(flow(-1.0, Isotropic{1.0, 2}))), InvalidArgument);
  EXPECT_THROW(run(options_for(flow(1.0, Isotropic{1.0, 3}))), InvalidArgument);
  EXPECT_THROW(run(options_for(flow(1.0, Isotropic{0.0, 2}))), InvalidArgument);
  EXPECT_THROW(run(options_for(flow(1.0, Diagonal{VectorXd::Unit(2, 0)}))), InvalidArgument);
  EXPECT_THROW(run(options_for(chain(0.0, 1.0, Isotropic{1.0, 2}))), InvalidArgument);
  EXPECT_THROW(run(options_for(chain(0.1, 0.5, Isotropic{1.0, 2}))), InvalidArgument);
  EXPECT_THROW(run(options_for(MinimiserRelease{Isotropic{0.0, 2}})), InvalidArgument);
  EXPECT_THROW(
      run(options_for(FlowRelease{1.0, Isotropic{1.0, 2}, point_distribution(VectorXd::Zero(3))})),
      InvalidArgument);
  RowRiskOptions replace = options_for(flow(1.0, Isotropic{1.0, 2}));
  replace.replacement = Record{VectorXd::Zero(2), 0.5};
  EXPECT_THROW(run(replace), InvalidArgument);
  // Contraction in a very unequal metric is not proven.
  const Covariance skewed = Diagonal{(VectorXd(2) << 1.0, 1e4).finished()};
  EXPECT_THROW(run(options_for(flow(kInf, skewed))), NumericalFailure);
  EXPECT_NO_THROW(run(options_for(flow(1.0, skewed))));
  const ClassificationFit single(ClassificationProblem::logistic(
      MatrixXd::Ones(1, 1), VectorXd::Ones(1), {LossScale::sum, 1.0}));
  EXPECT_THROW((void)row_bounds(single,
                                options_for(FlowRelease{1.0, Isotropic{1.0, 1},
                                                        point_distribution(VectorXd::Zero(1))}),
                                observer),
               InvalidArgument);
}

class StoppingObserver : public Observer {
 public:
  void progress(std::string_view, std::uint64_t, std::uint64_t) override { stop_ = true; }
  [[nodiscard]] bool stop_requested() const override { return stop_; }

 private:
  bool stop_ = false;
};

TEST(ClassificationRows, StopsWhenAsked) {
  const MatrixXd x = MatrixXd::Random(300, 2);
  const VectorXd y = (x.col(0).array() > 0.0).cast<double>();
  const ClassificationFit fit(ClassificationProblem::logistic(x, y, {LossScale::sum, 1.0}));
  StoppingObserver observer;
  const auto rows = row_bounds(fit, options_for(flow(kInf, Isotropic{1.0, 2})), observer).rows;
  ASSERT_EQ(rows.size(), 300U);
  EXPECT_EQ(rows.front().status, RowStatus::ok);
  EXPECT_EQ(rows.back().status, RowStatus::not_computed);
  EXPECT_EQ(rows.back().row, 299);
}

TEST(ClassificationRows, OneNeighbourIsARowOfTheTable) {
  Observer observer;
  const ClassificationFit fit = fit_of({LossScale::sum, 0.5});
  const ChainRelease release = chain(0.1, 20, Isotropic{2.0, 2});
  const ClassificationRows rows = row_bounds(fit, options_for(release), observer);
  for (Index row = 0; row < 6; ++row) {
    const NeighbourBounds one = neighbour_bounds(fit, {row, {}}, release);
    const RowRisk& among = rows.rows[static_cast<std::size_t>(row)];
    ASSERT_TRUE(one.risk && one.mu);
    EXPECT_EQ(one.mu->value, among.mu.value);
    EXPECT_EQ(one.risk->epsilon(Direction::forward, Delta{1e-3}).value.nats(),
              among.forward.epsilon.value);
    EXPECT_EQ(one.risk->delta(Direction::reverse, Epsilon{0.5}).value.probability(),
              among.reverse.delta.front().value);
  }
}

}  // namespace
}  // namespace sfumato
