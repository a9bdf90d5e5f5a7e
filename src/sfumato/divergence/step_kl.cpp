#include "sfumato/divergence/step_kl.hpp"

#include <algorithm>
#include <cmath>

#include "sfumato/core/check.hpp"
#include "sfumato/core/infinity.hpp"
#include "sfumato/divergence/step_kl_block.hpp"
#include "sfumato/math/special.hpp"

namespace sfumato {
namespace {

using Eigen::Index;
using Eigen::VectorXd;

std::span<const double> entries(const VectorXd& values) {
  return {values.data(), static_cast<std::size_t>(values.size())};
}

void require_rate(double learning_rate, const Where& where) {
  require_finite("learning_rate", require_non_negative("learning_rate", learning_rate, where),
                 where);
}

void require_gradients(double learning_rate, const VectorXd& g, const VectorXd& g_prime,
                       const Where& where) {
  require_rate(learning_rate, where);
  require_size("gradient_prime", g_prime.size(), g.size(), where);
  for (const double value : g) require_finite("gradient", value, where);
  for (const double value : g_prime) require_finite("gradient_prime", value, where);
}

/// One coordinate of Spec §8.1 (1) with all its edges; `shift` = eta (g - g').
double coordinate_kl(double shift, double s, double s_prime) {
  if (s == 0.0 && s_prime == 0.0) return shift == 0.0 ? 0.0 : kInf;
  if (s == 0.0 || s_prime == 0.0) return kInf;
  const double excess = (s - s_prime) / s_prime;
  // psi(r) = (r - 1) - log r; for small r the excess has lost the digits of r, and s / s' may be 0.
  const double psi =
      excess < -0.5 ? excess - (std::log(s) - std::log(s_prime)) : psi_of_excess(excess);
  return 0.5 * (psi + shift * (shift / s_prime));
}

/// Sizes agree. Entries are checked where the fast way finds something odd, as it does for every
/// entry that is not allowed.
template <class G, class S>
StepKl sum_of_coordinates(double learning_rate, std::span<const G> g, std::span<const G> g_prime,
                          std::span<const S> s, std::span<const S> s_prime, const Where& where) {
  constexpr std::size_t kBlock = 256;
  double shift[kBlock], variance[kBlock], variance_prime[kBlock], kl[kBlock];
  StepKl result;
  for (std::size_t first = 0; first < g.size(); first += kBlock) {
    const std::size_t count = std::min(kBlock, g.size() - first);
    for (std::size_t j = 0; j < count; ++j) {
      const std::size_t i = first + j;
      shift[j] = learning_rate * (static_cast<double>(g[i]) - static_cast<double>(g_prime[i]));
      variance[j] = static_cast<double>(s[i]);
      variance_prime[j] = static_cast<double>(s_prime[i]);
    }
    regular_step_kl(shift, variance, variance_prime, count, kl);
    double sum = sum_of(kl, count);
    if (!std::isfinite(sum)) {
      for (std::size_t j = 0; j < count; ++j) {
        if (std::isfinite(kl[j])) continue;
        const std::size_t i = first + j;
        require_finite("gradient", static_cast<double>(g[i]), where);
        require_finite("gradient_prime", static_cast<double>(g_prime[i]), where);
        for (const double value : {variance[j], variance_prime[j]}) {
          require_finite("variance", require_non_negative("variance", value, where), where);
        }
        kl[j] = coordinate_kl(shift[j], variance[j], variance_prime[j]);
        if (kl[j] < kInf) continue;
        if (result.first_infinite.size() < StepKl::kNamedCoordinates) {
          result.first_infinite.push_back(i);
        }
        ++result.infinite;
      }
      sum = sum_of(kl, count);
    }
    result.nats += sum;
  }
  return result;
}
double sum_of_coordinates(double learning_rate, const VectorXd& g, const VectorXd& g_prime,
                          const VectorXd& s, const VectorXd& s_prime) {
  return sum_of_coordinates(learning_rate, entries(g), entries(g_prime), entries(s),
                            entries(s_prime), Where::here())
      .nats;
}

template <class G, class S>
StepKl checked_step_kl(double learning_rate, std::span<const G> g, std::span<const G> g_prime,
                       std::span<const S> s, std::span<const S> s_prime, const Where& where) {
  require_rate(learning_rate, where);
  require_size("gradient_prime", std::ssize(g_prime), std::ssize(g), where);
  require_size("variances", std::ssize(s), std::ssize(g), where);
  require_size("variances_prime", std::ssize(s_prime), std::ssize(g), where);
  return sum_of_coordinates(learning_rate, g, g_prime, s, s_prime, where);
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

StepKl step_kl_by_coordinate(double learning_rate, std::span<const double> gradient,
                             std::span<const double> gradient_prime,
                             std::span<const double> variances,
                             std::span<const double> variances_prime) {
  return checked_step_kl(learning_rate, gradient, gradient_prime, variances, variances_prime,
                         Where::here());
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
  require_rate(learning_rate, where);
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
