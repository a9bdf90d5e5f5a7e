#include "sfumato/divergence/step_kl.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "sfumato/core/check.hpp"
#include "sfumato/math/special.hpp"

namespace sfumato {
namespace {

using Eigen::Index;
using Eigen::VectorXd;

constexpr double kInf = std::numeric_limits<double>::infinity();

void require_gradients(double learning_rate, const VectorXd& g, const VectorXd& g_prime,
                       const Where& where) {
  require_finite("learning_rate", require_non_negative("learning_rate", learning_rate, where),
                 where);
  require_size("gradient_prime", g_prime.size(), g.size(), where);
  for (const double value : g) require_finite("gradient", value, where);
  for (const double value : g_prime) require_finite("gradient_prime", value, where);
}

/// One coordinate of Spec §8.1 (1); `s`, `s_prime` are variances, `shift` = eta (g - g').
double coordinate_kl(double shift, double s, double s_prime) {
  if (s == 0.0 && s_prime == 0.0) return shift == 0.0 ? 0.0 : kInf;
  if (s == 0.0 || s_prime == 0.0) return kInf;
  const double excess = (s - s_prime) / s_prime;
  const double ratio = s / s_prime;
  // psi(r) = (r - 1) - log r; for small r the excess has lost the digits of r.
  const double psi = excess < -0.5 ? excess - std::log(ratio) : psi_of_excess(excess);
  return 0.5 * (psi + shift * (shift / s_prime));
}

double sum_of_coordinates(double learning_rate, const VectorXd& g, const VectorXd& g_prime,
                          const VectorXd& s, const VectorXd& s_prime) {
  double sum = 0.0;
  for (Index i = 0; i < g.size(); ++i) {
    sum += coordinate_kl(learning_rate * (g(i) - g_prime(i)), s(i), s_prime(i));
  }
  return sum;
}

VectorXd layer_maxima(const VectorXd& g, const std::vector<Index>& layers) {
  VectorXd maxima(g.size());
  Index start = 0;
  for (const Index size : layers) {
    if (size > 0)
      maxima.segment(start, size).setConstant(g.segment(start, size).cwiseAbs().maxCoeff());
    start += size;
  }
  return maxima;
}

}  // namespace

double step_kl(double learning_rate, const VectorXd& gradient, const VectorXd& gradient_prime,
               const VectorXd& variances, const VectorXd& variances_prime) {
  const Where where = Where::here();
  require_gradients(learning_rate, gradient, gradient_prime, where);
  require_size("variances", variances.size(), gradient.size(), where);
  require_size("variances_prime", variances_prime.size(), gradient.size(), where);
  for (const VectorXd* all : {&variances, &variances_prime}) {
    for (const double value : *all) {
      require_finite("variance", require_non_negative("variance", value, where), where);
    }
  }
  return sum_of_coordinates(learning_rate, gradient, gradient_prime, variances, variances_prime);
}

double gradient_scaled_step_kl(double learning_rate, double variance, const VectorXd& gradient,
                               const VectorXd& gradient_prime) {
  const Where where = Where::here();
  require_gradients(learning_rate, gradient, gradient_prime, where);
  require_positive("variance", variance, where);
  return sum_of_coordinates(learning_rate, gradient, gradient_prime, variance * gradient.cwiseAbs(),
                            variance * gradient_prime.cwiseAbs());
}

double layer_max_step_kl(double learning_rate, double variance, const VectorXd& gradient,
                         const VectorXd& gradient_prime, const std::vector<Index>& layers) {
  const Where where = Where::here();
  require_gradients(learning_rate, gradient, gradient_prime, where);
  require_positive("variance", variance, where);
  const std::vector<Index> sizes = layers.empty() ? std::vector<Index>{gradient.size()} : layers;
  Index total = 0;
  for (const Index size : sizes) {
    require_non_negative("layer size", static_cast<double>(size), where);
    total += size;
  }
  require_size("layers together", total, gradient.size(), where);
  return sum_of_coordinates(learning_rate, gradient, gradient_prime,
                            variance * layer_maxima(gradient, sizes),
                            variance * layer_maxima(gradient_prime, sizes));
}

double floored_step_kl(double learning_rate, double variance, double floor,
                       const VectorXd& gradient, const VectorXd& gradient_prime) {
  const Where where = Where::here();
  require_gradients(learning_rate, gradient, gradient_prime, where);
  require_positive("variance", variance, where);
  require_positive("floor", floor, where);
  return sum_of_coordinates(learning_rate, gradient, gradient_prime,
                            variance * gradient.cwiseAbs().cwiseMax(floor),
                            variance * gradient_prime.cwiseAbs().cwiseMax(floor));
}

double floored_step_kl_bound(double learning_rate, double variance, double floor,
                             const VectorXd& sensitivities) {
  const Where where = Where::here();
  require_finite("learning_rate", require_non_negative("learning_rate", learning_rate, where),
                 where);
  require_positive("variance", variance, where);
  require_positive("floor", floor, where);
  double sum = 0.0;
  for (const double s : sensitivities) {
    require_non_negative("sensitivity", s, where);
    const double shift = learning_rate * s;
    sum += 0.5 * (psi_of_excess(s / floor) + shift * (shift / (variance * floor)));
  }
  return sum;
}

}  // namespace sfumato
