#include "reproduce/figure3.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/math/tools/minima.hpp>
#include <cmath>
#include <limits>

#include "sfumato/core/check.hpp"
#include "sfumato/design/average_design.hpp"
#include "sfumato/design/differences.hpp"
#include "sfumato/divergence/gaussian_kl.hpp"
#include "sfumato/math/special.hpp"
#include "sfumato/sde/ou_distribution.hpp"

namespace sfumato::apps {
namespace {

using Eigen::Matrix2d;
using Eigen::Vector2d;

constexpr double kShift = 0.1;
constexpr double kLeverage = 0.1;
constexpr double kResidual = 0.5;
constexpr double kNoiseFrom = 0.1, kNoiseTo = 5.0;

const Vector2d& target() {
  static const Vector2d point(1.0, 1.0);
  return point;
}

OuDistribution distribution_of(const QuadraticLoss& loss, const Vector2d& variances) {
  return OuDistribution({loss.curvature, loss.pull, Diagonal{variances}, loss.given},
                        point_distribution(Vector2d::Zero()));
}

/// The loss without the row along A^{1/2} direction, scaled to kLeverage and labelled so that its
/// residual at x* is kResidual.
QuadraticLoss without_row(const Matrix2d& curvature, const Vector2d& direction) {
  const Vector2d row =
      std::sqrt(kLeverage) * curvature.diagonal().cwiseSqrt().cwiseProduct(direction.normalized());
  const double label = row.dot(target()) - kResidual;
  return quadratic_from_pull(curvature - row * row.transpose(), curvature * target() - row * label);
}

/// The diagonal noises of one error: the first axis bears the share 1 / (1 + e^{-logit}).
class EqualErrorCurve {
 public:
  EqualErrorCurve(const QuadraticPair& pair, double error, double time) {
    const auto error_of = [&](double first, double second) {
      return distribution_of(pair.d, {first, second}).error(time, pair.minimiser);
    };
    const double bias = error_of(0.0, 0.0);
    if (!(require_finite("error", error) > bias)) {
      throw InvalidArgument(
          fmt::format("error = {} is not above {}, what remains without any noise", error, bias),
          "Allow a larger error or a longer time");
    }
    budget_ = error - bias;
    // The error is linear in the variances: unit noise along each axis tells its price.
    price_ = Vector2d(error_of(1.0, 0.0) - bias, error_of(0.0, 1.0) - bias);
  }

  [[nodiscard]] double isotropic_variance() const { return budget_ / price_.sum(); }
  [[nodiscard]] double isotropic_logit() const { return std::log(price_(0) / price_(1)); }
  [[nodiscard]] Vector2d variances(double logit) const {
    return Vector2d(budget_ / price_(0) / (1.0 + std::exp(-logit)),
                    budget_ / price_(1) / (1.0 + std::exp(logit)));
  }
  /// The multiple of `shape` that costs the same.
  [[nodiscard]] Vector2d scaled(const Vector2d& shape) const {
    return budget_ / price_.dot(shape) * shape;
  }

 private:
  double budget_;
  Vector2d price_;
};

double kl_of(const NoiseEffect& effect, Direction direction) {
  return direction == Direction::forward ? effect.kl_forward : effect.kl_reverse;
}

double grid_value(int index, int intervals) {
  return (kNoiseFrom * (intervals - index) + kNoiseTo * index) / intervals;
}

void require_intervals(int intervals) {
  if (intervals >= 1) return;
  throw InvalidArgument(fmt::format("intervals = {} is not positive", intervals),
                        "Ask for one step per axis or more");
}

}  // namespace

std::string_view name(QuadraticDifference difference) {
  switch (difference) {
    case QuadraticDifference::minimiser_shift: return "minimiser_shift";
    case QuadraticDifference::gradient_shift: return "gradient_shift";
    case QuadraticDifference::sharp_shift: return "sharp_shift";
    case QuadraticDifference::flat_shift: return "flat_shift";
    case QuadraticDifference::curvature: return "curvature";
    case QuadraticDifference::sharp_row: return "sharp_row";
    case QuadraticDifference::generic_row: return "generic_row";
  }
  throw InternalError("unknown difference");
}

QuadraticPair quadratic_pair(QuadraticDifference difference, double condition_number) {
  require_positive("condition_number", condition_number);
  const Matrix2d curvature = Vector2d(condition_number, 1.0).asDiagonal();
  const auto other = [&]() -> QuadraticLoss {
    const auto shifted = [&](double sharp, double flat) {
      return quadratic_from_point(curvature, target() + kShift * Vector2d(sharp, flat));
    };
    switch (difference) {
      case QuadraticDifference::minimiser_shift: return shifted(1.0, 1.0);
      case QuadraticDifference::gradient_shift: return shifted(1.0 / condition_number, 1.0);
      case QuadraticDifference::sharp_shift: return shifted(1.0, 0.0);
      case QuadraticDifference::flat_shift: return shifted(0.0, 1.0);
      case QuadraticDifference::curvature: return quadratic_from_point(0.9 * curvature, target());
      case QuadraticDifference::sharp_row: return without_row(curvature, {1.0, 0.0});
      case QuadraticDifference::generic_row: return without_row(curvature, {1.0, 1.0});
    }
    throw InternalError("unknown difference");
  };
  return {quadratic_from_point(curvature, target()), other(), target()};
}

NoiseEffect noise_effect(const QuadraticPair& pair, const Vector2d& variances, double time) {
  const OuDistribution p = distribution_of(pair.d, variances);
  const OuDistribution q = distribution_of(pair.d_prime, variances);
  const WhitenedPair whitened = whiten_at(p, q, time);
  return {p.error(time, pair.minimiser), gaussian_kl(whitened).value.value(),
          gaussian_kl(swapped(whitened)).value.value()};
}

EqualErrorGain gain_at_equal_error(const QuadraticPair& pair, double error, Direction direction,
                                   double time) {
  const EqualErrorCurve curve(pair, error, time);
  const auto kl_at = [&](double logit) {
    return kl_of(noise_effect(pair, curve.variances(logit), time), direction);
  };
  EqualErrorGain result{};
  result.isotropic_variance = curve.isotropic_variance();
  result.best_variances = Vector2d::Constant(result.isotropic_variance);
  result.kl_isotropic = kl_of(noise_effect(pair, result.best_variances, time), direction);

  // From the odds of isotropic noise up and down by e^24, in steps of e^{1/4}: finer than any change
  // of the KL, whose terms are ratios of variances.
  constexpr int kSteps = 192;
  constexpr double kReach = 24.0;
  const double centre = curve.isotropic_logit();
  const auto logit_of = [&](int step) { return centre + kReach * (2.0 * step / kSteps - 1.0); };
  std::vector<double> kls;
  for (int step = 0; step <= kSteps; ++step) kls.push_back(kl_at(logit_of(step)));
  const int nearest =
      static_cast<int>(std::distance(kls.begin(), std::min_element(kls.begin(), kls.end())));
  const std::pair<double, double> inside = boost::math::tools::brent_find_minima(
      kl_at, logit_of(std::max(nearest - 1, 0)), logit_of(std::min(nearest + 1, kSteps)),
      std::numeric_limits<double>::digits / 2);
  double best = inside.first, best_kl = inside.second;
  // An end counts as the limit of the noises beside it. Where the KL jumps there, the value at the
  // end is no limit: of two curvatures, say, a noiseless axis shows nothing once both means agree to
  // rounding, although the least noise shows them.
  const auto try_end = [&](double end, double beside) {
    const double kl = kl_at(end);
    if (kl < best_kl && beside - kl <= 1e-6 * beside) {
      best = end;
      best_kl = kl;
    }
  };
  try_end(-HUGE_VAL, kls.front());
  try_end(HUGE_VAL, kls.back());
  result.kl_best = result.kl_isotropic;
  if (best_kl < result.kl_isotropic * (1.0 - 1e-12)) {
    result.best_variances = curve.variances(best);
    result.kl_best = best_kl;
  }
  result.gain = result.kl_isotropic / result.kl_best;
  return result;
}

std::optional<double> stationary_gain(const QuadraticPair& pair, double error) {
  require_positive("error", error);
  if (!pair.d.curvature.isDiagonal(0.0) || !pair.d_prime.curvature.isDiagonal(0.0)) return {};
  const Eigen::Array2d rates = pair.d.curvature.diagonal();
  const Eigen::Array2d other_rates = pair.d_prime.curvature.diagonal();
  const Eigen::Array2d gap = pair.d_prime.pull.array() / other_rates - pair.d.pull.array() / rates;
  const Eigen::Array2d cost = other_rates * gap.square();
  const Eigen::Array2d price = 0.5 / rates;
  double floor = 0.0;  // what no noise hides (Spec §5, noise floor)
  for (Eigen::Index i = 0; i < 2; ++i) {
    floor += 0.5 * psi_of_excess((other_rates(i) - rates(i)) / rates(i));
  }
  const double root = (price * cost).sqrt().sum();
  return (floor + cost.sum() * price.sum() / error) / (floor + root * root / error);
}

Vector2d gradient_difference(const QuadraticPair& pair, const Vector2d& variances, double time) {
  const GaussianDistribution distribution = distribution_of(pair.d, variances).at(time);
  const Eigen::MatrixXd slope = pair.d_prime.curvature - pair.d.curvature;
  const Eigen::VectorXd at_mean = slope * distribution.mean - (pair.d_prime.pull - pair.d.pull);
  const Eigen::MatrixXd spread = slope * multiply(distribution.covariance, slope.transpose());
  return (at_mean.cwiseAbs2() + spread.diagonal()).cwiseSqrt();
}

DesignedNoise designed_noise(const QuadraticPair& pair, double error, double time) {
  const EqualErrorCurve curve(pair, error, time);
  const Diagonal moments = second_moments_of_box(
      gradient_difference(pair, Vector2d::Constant(curve.isotropic_variance()), time));
  const auto outcome = [&](const Budget& budget) -> RuleOutcome {
    const Design design = average_design(moments, {.budget = budget, .form = DesignForm::diagonal});
    const Vector2d variances = curve.scaled(diagonal_of(design.covariance));
    return {variances, noise_effect(pair, variances, time).kl_forward};
  };
  return {outcome(trace_budget(2, 1.0)), outcome(distance_budget(Dense{pair.d.curvature}, 1.0))};
}

std::vector<PlanePoint> noise_plane(const QuadraticPair& pair, int intervals) {
  require_intervals(intervals);
  std::vector<PlanePoint> points;
  for (int i = 0; i <= intervals; ++i) {
    for (int j = 0; j <= intervals; ++j) {
      const double x = grid_value(i, intervals);
      const double y = grid_value(j, intervals);
      points.push_back({x, y, noise_effect(pair, {x * x, y * y})});
    }
  }
  return points;
}

std::vector<LinePoint> isotropic_line(const QuadraticPair& pair, int intervals) {
  require_intervals(intervals);
  std::vector<LinePoint> points;
  for (int i = 0; i <= intervals; ++i) {
    const double x = grid_value(i, intervals);
    const NoiseEffect effect = noise_effect(pair, {x * x, x * x});
    points.push_back({x, effect, gain_at_equal_error(pair, effect.error, Direction::forward)});
  }
  return points;
}

}  // namespace sfumato::apps
