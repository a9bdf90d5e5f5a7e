#include "quadratic/measured_chain.hpp"

#include <limits>

#include "sfumato/core/check.hpp"

namespace sfumato::cli {
namespace {

using Eigen::Index;
using Eigen::VectorXd;

constexpr double kInf = std::numeric_limits<double>::infinity();

/// a * b, where nothing times infinity is nothing.
double times(double a, double b) { return a == 0.0 ? 0.0 : a * b; }

/// The variances along the eigenvectors; negative only by rounding.
VectorXd rotated_variances(const Spectrum& spectrum, const Covariance& covariance) {
  if (spectrum.is_diagonal()) return diagonal_of(covariance);
  return spectrum.vectors.cwiseProduct(multiply(covariance, spectrum.vectors))
      .colwise()
      .sum()
      .transpose()
      .cwiseMax(0.0);
}

}  // namespace

MeasuredChain::MeasuredChain(const LinearChain& chain, const GaussianLaw& start)
    : ChainLaw(chain, start),
      learning_rate_(chain.learning_rate),
      pull_(spectrum().to_eigenbasis(chain.pull)),
      mean_(spectrum().to_eigenbasis(start.mean)),
      noise_(rotated_variances(spectrum(), chain.step_noise)),
      spread_(rotated_variances(spectrum(), start.covariance)) {}

double MeasuredChain::square(Index i, double start_gap, double steps) const {
  const double speed = learning_rate_ * spectrum().values(i);
  const double loss = speed * (2.0 - speed);  // 1 - r^2
  double decay;
  double accumulated;
  if (steps == kInf) {
    decay = loss > 0.0 ? 0.0 : loss == 0.0 ? 1.0 : kInf;
    accumulated = loss > 0.0 ? 1.0 / loss : kInf;
  } else {
    const double power = power_of_complement(speed, steps);
    decay = power * power;
    accumulated = geometric_sum(loss, steps);
  }
  return times(start_gap * start_gap + spread_(i), decay) + times(noise_(i), accumulated);
}

double MeasuredChain::error(double steps, const VectorXd& minimiser) const {
  require_steps(steps);
  require_size("minimiser", minimiser.size(), dimension());
  const VectorXd aim = spectrum().to_eigenbasis(minimiser);
  double sum = 0.0;
  for (Index i = 0; i < dimension(); ++i) sum += square(i, mean_(i) - aim(i), steps);
  return sum;
}

double MeasuredChain::excess_loss(double steps) const {
  require_steps(steps);
  double sum = 0.0;
  for (Index i = 0; i < dimension(); ++i) {
    const double rate = spectrum().values(i);
    if (rate > 0.0) sum += 0.5 * rate * square(i, mean_(i) - pull_(i) / rate, steps);
  }
  return sum;
}

}  // namespace sfumato::cli
