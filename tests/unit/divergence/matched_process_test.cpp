#include "sfumato/divergence/matched_process.hpp"

#include <gtest/gtest.h>

#include "sfumato/core/error.hpp"

namespace sfumato {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

OuPair pair_of(double noise_prime, const GaussianDistribution& start) {
  const MatrixXd unit = MatrixXd::Identity(2, 2);
  return {{unit, VectorXd::Zero(2), Isotropic{1.0, 2}},
          start,
          {1.2 * unit, VectorXd::Zero(2), Isotropic{noise_prime, 2}},
          start};
}

TEST(MatrixWeights, GammaOneNeedsADensityAtTheStartOrEqualNoise) {
  const MatrixXd unit = MatrixXd::Identity(2, 2);
  const auto bound = [&](double noise_prime, const GaussianDistribution& start, double gamma) {
    return matrix_weight_bound(pair_of(noise_prime, start), 1.0, {0.5, 1.0, gamma}, unit,
                               1.2 * unit);
  };
  const GaussianDistribution point = point_distribution(VectorXd::Ones(2));
  const GaussianDistribution singular{VectorXd::Ones(2), Diagonal{Eigen::Vector2d(1.0, 0.0)}};
  EXPECT_THROW((void)bound(1.1, point, 1.0), InvalidArgument);
  EXPECT_THROW((void)bound(1.1, singular, 1.5), InvalidArgument);
  EXPECT_TRUE(bound(1.1, point, 0.5).has_value());
  EXPECT_TRUE(bound(1.0, point, 1.0).has_value());
  EXPECT_TRUE(bound(1.1, {VectorXd::Ones(2), Isotropic{0.5, 2}}, 1.0).has_value());
}

TEST(MatchedProcess, NearlySingularStartsThatDifferALittle) {
  // The trace form of W_2 cancels here and gave 2.0e-6 for a KL of 2.9e-3.
  const MatrixXd unit = MatrixXd::Identity(2, 2);
  const OuProcess process{unit, VectorXd::Zero(2), Isotropic{1.0, 2}};
  const Eigen::Matrix2d v{{0.5849835756002849, 0.49272486006698146},
                          {0.49272486006698146, 0.4150164343997152}};
  const Eigen::Matrix2d w{{0.584983574770252, 0.4927248610524312},
                          {0.4927248610524312, 0.415016433229748}};
  const OuPair pair{process,
                    {VectorXd::Zero(2), Dense{MatrixXd(v)}},
                    process,
                    {VectorXd::Zero(2), Dense{MatrixXd(w)}}};
  for (const OuPair& direction : {pair, swapped(pair)}) {
    const double bound = matched_process_bound(direction, 1e-8).kl.value.value();
    EXPECT_GE(bound, exact_kl(direction, 1e-8).value.value());
    EXPECT_LE(bound, 0.014);
  }
}

}  // namespace
}  // namespace sfumato
