#include "sfumato/sde/precise/careful.hpp"

#include <Eigen/Cholesky>
#include <algorithm>
#include <utility>

#include "sfumato/core/overloaded.hpp"
#include "sfumato/math/precision.hpp"

namespace sfumato {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double kDigitsToSpare = 1e-8;  // of the largest eigenvalue: eight digits are left
constexpr double kAgreement = 1e-6;      // of comparisons whose fourth digit is read

Covariance reversed(const Covariance& covariance) {
  if (std::holds_alternative<Isotropic>(covariance)) return covariance;
  if (const auto* diagonal = std::get_if<Diagonal>(&covariance)) {
    return Diagonal{diagonal->variances.reverse()};
  }
  return Dense{dense(covariance).reverse()};
}

/// Up or down by one unit of rounding, by the place of the entry.
double nudged(double value, Index i, Index j) {
  const auto hash = static_cast<std::uint64_t>(i * 1000003 + j) * 0x9E3779B97F4A7C15ULL;
  const double direction = (hash >> 63U) != 0U ? 1.0 : -1.0;
  return value * (1.0 + direction * std::numeric_limits<double>::epsilon());
}

}  // namespace

GivenTraining given_training(const OuProcess& process, const GaussianDistribution& start,
                             double learning_rate) {
  return {process.given ? *process.given : GivenLoss(MatrixGiven{process.curvature, process.pull}),
          process.noise, start, learning_rate};
}

bool loses_digits(const Spectrum& spectrum) {
  if (spectrum.is_diagonal() || spectrum.values.size() > kLargestWide) return false;
  const Eigen::ArrayXd sizes = spectrum.values.array().abs();
  return sizes.minCoeff() <= kDigitsToSpare * sizes.maxCoeff();
}

GivenTraining rounding_twin(const GivenTraining& training) {
  const LossIn<long double> loss = loss_in<long double>(training.loss);
  const Index d = loss.pull.size();
  MatrixGiven given{loss.curvature.cast<double>().reverse(), loss.pull.cast<double>().reverse()};
  for (Index j = 0; j < d; ++j) {
    for (Index i = j; i < d; ++i) {
      given.curvature(i, j) = given.curvature(j, i) = nudged(given.curvature(i, j), i, j);
    }
    given.pull(j) = nudged(given.pull(j), j, -1);
  }
  return {std::move(given),
          reversed(training.noise),
          {training.start.mean.reverse(), reversed(training.start.covariance)},
          training.learning_rate};
}

namespace {

LossIn<Wide> wide(const ScaledLoss& loss) {
  LossIn<Wide> result = loss.given != nullptr
                            ? loss_in<Wide>(*loss.given)
                            : LossIn<Wide>{loss.curvature.cast<Wide>(), loss.pull.cast<Wide>()};
  const Wide scale(loss.scale);
  result.curvature *= scale;
  result.pull *= scale;
  return result;
}

}  // namespace

LossDifference loss_difference(const ScaledLoss& p, const ScaledLoss& q, const VectorXd& point) {
  const LossIn<Wide> loss_p = wide(p), loss_q = wide(q);
  const MatrixOf<Wide> curvature = loss_p.curvature - loss_q.curvature;
  const VectorOf<Wide> pull = loss_p.pull - loss_q.pull;
  const VectorOf<Wide> at_point = curvature * point.cast<Wide>() - pull;
  return {curvature.cast<double>(), pull.cast<double>(), at_point.cast<double>()};
}

double rounding_of_metric(const Covariance& metric) {
  if (is_diagonal(metric)) return 1.0;
  const MatrixXd matrix = dense(metric);
  const double rcond = Eigen::LLT<MatrixXd>(matrix).rcond();
  return 1.0 + 8.0 * static_cast<double>(matrix.rows()) * std::numeric_limits<double>::epsilon() /
                   std::max(rcond, std::numeric_limits<double>::min());
}

bool difference_is_rounded(const OuProcess& p, const OuProcess& q) {
  constexpr double share = 1e-10;  // of the difference: bounds are moved up by less
  if (!p.given || !q.given || p.given == q.given) return false;
  const LossIn<Wide> loss_p = loss_in<Wide>(*p.given);
  const LossIn<Wide> loss_q = loss_in<Wide>(*q.given);
  const MatrixXd curvature = (loss_p.curvature - loss_q.curvature).cast<double>();
  const VectorXd pull = (loss_p.pull - loss_q.pull).cast<double>();
  return (p.curvature - q.curvature - curvature).norm() > share * curvature.norm() ||
         (p.pull - q.pull - pull).norm() > share * pull.norm();
}

void require_resolved(const Spectrum& spectrum, const GivenTraining& training, double when) {
  constexpr double too_little = 1e-12;  // of a decay
  if (spectrum.is_diagonal() || spectrum.values.cwiseAbs().minCoeff() > 0.0) return;
  if (spectrum.values.size() <= kLargestWide) return;  // looked at with more digits
  const double unit = training.learning_rate == 0.0 ? 1.0 : training.learning_rate;
  if (rounding_of(spectrum) * unit * when < too_little) return;
  throw NumericalFailure("double precision leaves too few digits to compare the distributions",
                         "Standardise the columns, or add ridge",
                         Where::here("comparison of two distributions"));
}

void require_agreement(const WhitenedPair& pair, const WhitenedPair& twin) {
  if (!twin.mutually_singular && disagreement(pair, twin) < kAgreement) return;
  throw NumericalFailure("double precision leaves too few digits to compare the distributions",
                         "Standardise the columns, add ridge, or put noise in every direction",
                         Where::here("comparison of two distributions"));
}

}  // namespace sfumato
