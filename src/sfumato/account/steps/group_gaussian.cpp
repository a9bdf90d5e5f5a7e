#include "sfumato/account/steps/group_gaussian.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "sfumato/account/contour/ratio_quadrature.hpp"
#include "sfumato/account/contour/rounding_unit.hpp"
#include "sfumato/core/error.hpp"
#include "sfumato/core/infinity.hpp"

namespace sfumato {
namespace {

RatioStep ratio_of(const GroupGaussian& s) {
  return {MixtureRatio(s.q, s.m, s.g), s.direction, s.k};
}

/// The density ratio r_g of a group (Spec §19.5).
class GroupRatio {
 public:
  GroupRatio(double q, double m, int g) : m_(m) {
    for (int j = 0; j <= g; ++j) {
      const double log_weight = std::lgamma(g + 1.0) - std::lgamma(j + 1.0) -
                                std::lgamma(g - j + 1.0) + j * std::log(q) +
                                (g - j) * std::log1p(-q);
      weights_.push_back(std::exp(log_weight));
    }
    lowest_ = g * std::log1p(-q);
    // Rounding of the weights: their logarithms' roundings.
    weight_error_ =
        32.0 * kUnit * (1.0 + g * (1.0 + std::fabs(std::log(q)) + std::fabs(std::log1p(-q))));
  }

  [[nodiscard]] double lowest() const { return lowest_; }
  [[nodiscard]] double weight_error() const { return weight_error_; }
  [[nodiscard]] Mixture mixture() const {
    Mixture result;
    for (std::size_t j = 0; j < weights_.size(); ++j) {
      result.push_back({weights_[j], static_cast<double>(j) * m_});
    }
    return result;
  }

  /// log r_g(z) and by how much it may be off.
  [[nodiscard]] std::pair<double, double> log_at(double z) const {
    double largest = 0.0;
    for (std::size_t j = 1; j < weights_.size(); ++j) largest = std::max(largest, exponent(j, z));
    double sum = 0.0, off = 0.0, change = 0.0;
    for (std::size_t j = 0; j < weights_.size(); ++j) {
      const double a = exponent(j, z);
      const double term = weights_[j] * std::exp(a - largest);
      const double jm = static_cast<double>(j) * m_;
      sum += term;
      off += term * (4.0 * kUnit * (jm * std::fabs(z) + jm * jm) + weight_error_);
      change += weights_[j] * std::expm1(a);
    }
    const double direct = largest + std::log(sum);
    const double error =
        off / sum + 8.0 * kUnit * static_cast<double>(weights_.size()) + 4.0 * kUnit * largest;
    if (largest < 600.0 && std::fabs(change) < 0.5) {
      double small = 0.0;  // sizes of what is summed, for its error
      for (std::size_t j = 0; j < weights_.size(); ++j) {
        const double jm = static_cast<double>(j) * m_;
        const double a = exponent(j, z);
        small += weights_[j] *
                 (std::fabs(std::expm1(a)) *
                      (weight_error_ + 8.0 * kUnit * static_cast<double>(weights_.size())) +
                  std::exp(a) * 4.0 * kUnit * (jm * std::fabs(z) + jm * jm));
      }
      return {std::log1p(change), 2.0 * small + 4.0 * kUnit * std::fabs(change)};
    }
    return {direct, error};
  }

  /// Where log r_g is t: bisection, then as far to both sides as the errors demand.
  [[nodiscard]] Crossing crossing(double t) const {
    if (t < lowest_ - 8.0 * kUnit * (1.0 + std::fabs(lowest_))) return {-kInf, -kInf};
    const double g = static_cast<double>(weights_.size() - 1);
    double low = -45.0, high = 45.0 + g * m_;
    if (log_at(low).first >= t) return {-kInf, low};
    if (log_at(high).first <= t) return {high, kInf};
    for (int i = 0; i < 200 && high - low > 4.0 * kUnit * (std::fabs(low) + std::fabs(high)); ++i) {
      const double middle = 0.5 * (low + high);
      (log_at(middle).first < t ? low : high) = middle;
    }
    Crossing result{low, high};
    double step = 8.0 * kUnit * (1.0 + std::fabs(low));
    const auto surely = [&](double z, double sign) {
      const auto [value, error] = log_at(z);
      return sign * (value - t) > error + 2.0 * kUnit * std::fabs(t);
    };
    for (double s = step; !surely(result.low, -1.0); s *= 2.0) {
      result.low -= s;
      if (result.low < -45.0) {
        result.low = -kInf;
        break;
      }
    }
    for (double s = step; !surely(result.high, 1.0); s *= 2.0) {
      result.high += s;
      if (result.high > 45.0 + g * m_) {
        result.high = kInf;
        break;
      }
    }
    return result;
  }

 private:
  [[nodiscard]] double exponent(std::size_t j, double z) const {
    const double jm = static_cast<double>(j) * m_;
    return jm * z - 0.5 * jm * jm;
  }
  double m_;
  std::vector<double> weights_;
  double lowest_, weight_error_;
};

void widen(MassBounds& bounds, double relative) {
  bounds.lo *= 1.0 - relative;
  bounds.hi *= 1.0 + relative;
}

}  // namespace

void GroupGaussian::require_valid() const {
  require_rate(q);
  require_positive_finite("m", m);
  if (g < 1) {
    throw InvalidArgument(fmt::format("g = {} is not a number of records, at least 1", g),
                          "Pass a number of records, at least 1");
  }
  if (direction == StepDirection::replace) {
    throw InvalidArgument("a group is removed or added, not replaced",
                          "Pass a SampledGaussian with the rate and the "
                          "contribution of the whole group");
  }
}

double GroupGaussian::highest_loss() const {
  return direction == StepDirection::add ? -g * std::log1p(-q) : kInf;
}

GroupGaussian GroupGaussian::exchanged() const {
  return {q, m, g, k, sfumato::exchanged(direction)};
}

std::optional<Contribution> GroupGaussian::contribution() const {
  return Contribution{g * m, g * m};
}

BoundedStep<GroupGaussian> GroupGaussian::bounded() const {
  return bounded_gaussian(*this, kMostSignal / g, {-std::expm1(g * std::log1p(-q)), direction});
}

std::optional<RatioStep> GroupGaussian::as_ratio() const { return ratio_of(*this); }

TiltedDistribution GroupGaussian::tilted_distribution(double s0, double reach) const {
  return tilted_distribution_of(ratio_of(*this), s0, reach);
}

double GroupGaussian::points(double s0, double reach) const {
  return fewest_points_of(ratio_of(*this), s0, reach);
}

DecayBound GroupGaussian::log_bound_beyond(const StepCumulant& here, double s0, double reach,
                                           double enough) const {
  return sfumato::log_bound_beyond(ratio_of(*this), here, s0, reach, enough);
}

LossDistribution GroupGaussian::loss_distribution() const {
  const GroupRatio ratio(q, m, g);
  const bool reversed = direction == StepDirection::add;
  return {{}, [ratio, reversed](double t) {
            LossTails tails = reversed
                                  ? tails_of(kStandard, ratio.mixture(), ratio.crossing(-t), true)
                                  : tails_of(ratio.mixture(), kStandard, ratio.crossing(t), false);
            for (MassBounds* bounds :
                 {&tails.p_above, &tails.p_below, &tails.q_above, &tails.q_below}) {
              widen(*bounds, ratio.weight_error());
            }
            return tails;
          }};
}

}  // namespace sfumato
