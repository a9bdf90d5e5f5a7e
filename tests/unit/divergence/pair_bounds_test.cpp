#include "sfumato/divergence/pair_bounds.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "sfumato/core/error.hpp"
#include "sfumato/core/infinity.hpp"
#include "sfumato/divergence/classification_pair.hpp"
#include "sfumato/divergence/make_kl_bound.hpp"
#include "sfumato/sde/family/formula.hpp"

namespace sfumato {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

OuPair line(double rate, double target, double noise, double rate_prime, double target_prime,
            double noise_prime, double start_variance) {
  const auto process = [](double a, double x, double s) {
    return OuProcess{MatrixXd::Constant(1, 1, a), VectorXd::Constant(1, a * x), Isotropic{s, 1}};
  };
  const GaussianDistribution start{VectorXd::Zero(1), Isotropic{start_variance, 1}};
  return {process(rate, target, noise), start, process(rate_prime, target_prime, noise_prime),
          start};
}

const PairBound& row(const std::vector<PairBound>& bounds, BoundMethod method) {
  const auto found = std::find_if(bounds.begin(), bounds.end(),
                                  [&](const PairBound& b) { return b.method == method; });
  if (found == bounds.end()) throw InternalError("no row " + std::string(name(method)));
  return *found;
}

bool has(const std::vector<PairBound>& bounds, BoundMethod method) {
  return std::any_of(bounds.begin(), bounds.end(),
                     [&](const PairBound& b) { return b.method == method; });
}

TEST(PairBounds, NoiseBelowNormalNumbersHasNoSensitivity) {
  const OuProcess p{MatrixXd::Identity(2, 2), VectorXd::Ones(2), Isotropic{1e-320, 2}};
  const OuProcess q{MatrixXd::Identity(2, 2), VectorXd::Unit(2, 0), Isotropic{1e-320, 2}};
  const GaussianDistribution start = point_distribution(VectorXd::Zero(2));
  EXPECT_FALSE(linear_pair({p, start, q, start}).sensitivity.value);
}

TEST(PairBounds, TheSharpCaseIsAttainedByEveryBoundThatCan) {
  const SdePair pair = linear_pair(line(1.0, 0.0, 1.0, 1.0, 1.0, 1.0, 0.0));
  const auto bounds = closed_form_bounds(pair, 0.7);
  const double exact = std::tanh(0.35);
  for (const BoundMethod method : {BoundMethod::exact, BoundMethod::contractive,
                                   BoundMethod::sensitivity, BoundMethod::constants}) {
    EXPECT_NEAR(row(bounds, method).forward.kl.value.value(), exact, 1e-10) << name(method);
    EXPECT_NEAR(row(bounds, method).reverse.kl.value.value(), exact, 1e-10) << name(method);
  }
  EXPECT_NEAR(row(bounds, BoundMethod::path).forward.kl.value.value(), 0.35, 1e-10);
  EXPECT_FALSE(has(bounds, BoundMethod::primal));  // it would be the path bound again
  EXPECT_NEAR(gdp_bound(pair, 0.7).value->mu.value, std::sqrt(2.0 * exact), 1e-12);
}

TEST(PairBounds, DifferentNoiseLeavesTheRates) {
  const SdePair pair = linear_pair(line(0.5, 0.0, 0.75, 1.0, 0.0, 1.0, 0.5));
  const auto bounds = closed_form_bounds(pair, 20.0);
  EXPECT_NEAR(row(bounds, BoundMethod::exact).forward.kl.value.value(), 0.0472674, 1e-7);
  EXPECT_NEAR(row(bounds, BoundMethod::primal).forward.kl.value.value(), 0.614583, 1e-6);
  EXPECT_FALSE(row(bounds, BoundMethod::path).forward.reason.empty());
  EXPECT_EQ(row(bounds, BoundMethod::sensitivity).forward.reason, "needs equal noise");
}

TEST(PairBounds, ConstantsNeedConvexityIsotropyAndACommonStart) {
  const auto reason = [](const OuPair& pair) { return linear_pair(pair).constants.reason; };
  EXPECT_EQ(reason(line(1.0, 0.0, 1.0, 2.0, 0.0, 1.0, 0.0)), "");
  EXPECT_NE(reason(line(0.0, 0.0, 1.0, 2.0, 0.0, 1.0, 0.0)).find("convex"), std::string::npos);
  OuPair starts = line(1.0, 0.0, 1.0, 2.0, 0.0, 1.0, 0.0);
  starts.start_q.mean(0) = 1.0;
  EXPECT_NE(reason(starts).find("start"), std::string::npos);
  EXPECT_FALSE(same_start(linear_pair(starts)));
  const OuProcess plane{MatrixXd::Identity(2, 2), VectorXd::Zero(2),
                        Diagonal{Eigen::Vector2d(1, 2)}};
  const GaussianDistribution origin = point_distribution(VectorXd::Zero(2));
  EXPECT_NE(reason({plane, origin, plane, origin}).find("isotropic"), std::string::npos);
}

TEST(PairBounds, NothingIsKnownOfADoubleWellButWhatIsStated) {
  const GaussianDistribution start{VectorXd::Zero(1), Isotropic{0.2, 1}};
  const auto well = [](const char* drift) {
    return formula_diffusion({"x"}, {drift}, Isotropic{0.64, 1}, Where::here());
  };
  SdePair pair{{well("x - x^3"), start}, {well("x - x^3 + 0.2"), start}};
  pair.sensitivity.reason = "not stated";
  pair.constants.reason = "not convex";
  EXPECT_EQ(gdp_bound(pair, 1.0).reason, "not stated");
  pair.sensitivity.value = Claimed<double>{0.25, Claim::upper_bound, "stated", {"by the caller"}};
  const Known<GdpBound> gdp = gdp_bound(pair, 4.0);
  EXPECT_NEAR(gdp.value->mu.value, 0.25 * 2.0, 1e-12);  // the drift does not contract: S sqrt(t)
  EXPECT_EQ(gdp.value->mu.assumptions.back(), "by the caller");
  const auto bounds = closed_form_bounds(pair, kInf);
  EXPECT_FALSE(row(bounds, BoundMethod::sensitivity).forward.reason.empty());
  EXPECT_FALSE(has(bounds, BoundMethod::exact));
  EXPECT_THROW((void)closed_form_bounds(pair, -1.0), InvalidArgument);
  EXPECT_THROW((void)closed_form_bounds(pair, std::nan("")), InvalidArgument);
}

TEST(ClassificationPair, ConstantsOfBothDirectionsAndSensitivity) {
  const MatrixXd features =
      (MatrixXd(5, 2) << 1.0, 0.2, 1.0, -0.7, 1.0, 1.5, 1.0, 0.1, 1.0, -1.1).finished();
  const VectorXd labels = (VectorXd(5) << 1, 0, 1, 1, 0).finished();
  const ClassificationFit fit(
      ClassificationProblem::logistic(features, labels, {LossScale::sum, 0.5}));
  const GaussianDistribution start = point_distribution(VectorXd::Zero(2));
  const SdePair pair = classification_pair(fit, {2, {}}, Isotropic{0.25, 2}, start);
  // A row's gradient is at most its length, over the standard deviation 1/2.
  EXPECT_NEAR(pair.sensitivity.value->value, 2.0 * features.row(2).norm(), 1e-10);
  const PairConstants& constants = *pair.constants.value;
  EXPECT_EQ(constants.forward.f.kappa, 0.5);
  EXPECT_EQ(constants.forward.minimiser_distance, constants.reverse.minimiser_distance);
  const VectorXd own = fit.convexity().minimiser;
  const double gradient = fit.problem().neighbour(2, {}).gradient(own).norm();
  EXPECT_GE(*constants.forward.gradient_at_minimiser, gradient);
  EXPECT_NEAR(*constants.forward.gradient_at_minimiser, gradient, 1e-10);
  EXPECT_GE(*constants.reverse.gradient_at_minimiser, *constants.forward.gradient_at_minimiser);
  const SdePair tilted =
      classification_pair(fit, {2, {}}, Diagonal{Eigen::Vector2d(0.25, 1.0)}, start);
  EXPECT_FALSE(tilted.constants.value.has_value());
  EXPECT_NEAR(tilted.sensitivity.value->value, pair.sensitivity.value->value, 1e-9);
  EXPECT_THROW((void)classification_pair(fit, {2, {}}, Isotropic{1.0, 2},
                                         point_distribution(VectorXd::Zero(3))),
               InvalidArgument);
}

TEST(PairBounds, TheBestProvenBoundIsTheSmallestFiniteOne) {
  const KlBound none = no_bound("a", "does not apply");
  const KlBound small = kl_bound(0.5, "b");
  const KlBound large = kl_bound(2.0, "c");
  const KlBound guess{{Nats{0.1}, Claim::estimate, "d"}, {}};
  const KlBound truth{{Nats{0.2}, Claim::exact, "e"}, {}};
  const std::vector<PairBound> methods = {{BoundMethod::exact, truth, truth},
                                          {BoundMethod::fokker_planck, guess, guess},
                                          {BoundMethod::path, large, none},
                                          {BoundMethod::contractive, small, none},
                                          {BoundMethod::constants, small, none}};
  const PairBound* best = best_proven(methods, &PairBound::forward);
  ASSERT_NE(best, nullptr);
  EXPECT_EQ(best->method, BoundMethod::contractive);  // the first of two
  EXPECT_EQ(best_proven(methods, &PairBound::reverse), nullptr);
  EXPECT_EQ(best_proven_kl(methods, &PairBound::reverse).value.value(), kInf);
}

}  // namespace
}  // namespace sfumato
