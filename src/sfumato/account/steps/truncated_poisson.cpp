#include "sfumato/account/steps/truncated_poisson.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/math/distributions/binomial.hpp>
#include <cmath>

#include "sfumato/account/contour/rounding_unit.hpp"
#include "sfumato/core/error.hpp"
#include "sfumato/math/special.hpp"

namespace sfumato {
namespace {

/// Boost's binomial tails are right to some 1e-11, also for a billion records.
constexpr double kTailError = 1e-9;
/// Below it tails have no digits; it is more than them.
constexpr double kLeastOverflow = 1e-300;

/// The distributions of both pairs and their shares of M(s0).
struct Parts {
  double uncut_share, cut_share;
  double cumulant;  ///< log M(s0)
  double rounding;  ///< of it, in units of M(s0)
};

/// The sum of (1 - w) e^a and w e^b. Where M is near 1 the sum of changes from 1 keeps their digits.
Parts parts_of(double w, double a, double b) {
  Parts parts{};
  double size = 0.0;
  if (std::max(a, b) < 600.0) {
    const double first = (1.0 - w) * std::expm1(a), second = w * std::expm1(b);
    parts.cumulant = std::log1p(first + second);
    size = (std::fabs(first) + std::fabs(second)) * std::exp(-parts.cumulant) +
           std::fabs(parts.cumulant);
  } else {
    parts.cumulant = log_add_exp(std::log1p(-w) + a, std::log(w) + b);
    size = 4.0 + std::fabs(a) + std::fabs(b) + std::fabs(std::log(w));
  }
  parts.uncut_share = (1.0 - w) * std::exp(a - parts.cumulant);
  parts.cut_share = w * std::exp(b - parts.cumulant);
  parts.rounding = 16.0 * kUnit * size;
  return parts;
}

StepCumulant cumulant_of(const TiltedDistribution& distribution) {
  return {distribution.cumulant, distribution.mean, distribution.variance,
          distribution.error_at(0.0)};
}

/// first + (1 - w) times one side of an uncut step and w times that of a cut one.
MassBounds mixed(double w, const MassBounds& uncut, const MassBounds& cut) {
  return {((1.0 - w) * uncut.lo + w * cut.lo) * (1.0 - 8.0 * kUnit),
          ((1.0 - w) * uncut.hi + w * cut.hi) * (1.0 + 8.0 * kUnit)};
}

}  // namespace

void TruncatedPoisson::require_valid() const {
  require_rate(q);
  require_positive_finite("m", m);
  if (!(overflow > 0.0 && overflow < 1.0)) {
    throw InvalidArgument(fmt::format("overflow = {} is not in (0, 1)", overflow),
                          "Pass a probability; without a cut use SampledGaussian");
  }
}

std::variant<SampledGaussian, TwoSidedGaussian> TruncatedPoisson::cut() const {
  if (exchanges) return TwoSidedGaussian{q, 2.0 * m, k};
  return SampledGaussian{q, 2.0 * m, k, direction};
}

double TruncatedPoisson::highest_loss() const {
  return std::max(uncut().highest_loss(),
                  std::visit([](const auto& s) { return s.highest_loss(); }, cut()));
}

TruncatedPoisson TruncatedPoisson::exchanged() const {
  return {q, m, overflow, k, sfumato::exchanged(direction), exchanges};
}

std::optional<Contribution> TruncatedPoisson::contribution() const {
  return Contribution{2.0 * m, 2.0 * m};
}

BoundedStep<TruncatedPoisson> TruncatedPoisson::bounded() const {
  // Without noise a record that is exchanged is disclosed by both outputs.
  return bounded_gaussian(*this, 0.5 * kMostSignal,
                          {q, exchanges ? StepDirection::replace : direction});
}

double TruncatedPoisson::steepest() const {
  return std::visit([](const auto& s) { return s.steepest(); }, cut());
}

TiltedDistribution TruncatedPoisson::tilted_distribution(double s0, double reach) const {
  TiltedDistribution distribution = uncut().tilted_distribution(s0, reach);
  const TiltedDistribution other =
      std::visit([&](const auto& s) { return s.tilted_distribution(s0, reach); }, cut());
  const Parts parts = parts_of(overflow, distribution.cumulant, other.cumulant);
  const double a = parts.uncut_share, b = parts.cut_share;
  const double mean = a * distribution.mean + b * other.mean;
  distribution.variance =
      a * (distribution.variance + (distribution.mean - mean) * (distribution.mean - mean)) +
      b * (other.variance + (other.mean - mean) * (other.mean - mean));
  distribution.mean = mean;
  for (double& weight : distribution.weight) weight *= a;
  for (const double weight : other.weight) distribution.weight.push_back(b * weight);
  distribution.loss.insert(distribution.loss.end(), other.loss.begin(), other.loss.end());
  // A share that is off by so much of itself turns by as much as its losses do: |e^{iyL} - 1| <= |y L|.
  double turn = 0.0;
  for (std::size_t j = 0; j < distribution.loss.size(); ++j)
    turn += distribution.weight[j] * std::fabs(distribution.loss[j]);
  const double relative =
      16.0 * kUnit * (1.0 + std::fabs(distribution.cumulant) + std::fabs(other.cumulant)) +
      parts.rounding;
  distribution.cumulant = parts.cumulant;
  distribution.error_slope = a * distribution.error_slope + b * other.error_slope + relative * turn;
  distribution.error_floor =
      (a * distribution.error_floor + b * other.error_floor) * (1.0 + 1e-9) + parts.rounding;
  return distribution;
}

double TruncatedPoisson::points(double s0, double reach) const {
  return uncut().points(s0, reach) +
         std::visit([&](const auto& s) { return s.points(s0, reach); }, cut());
}

DecayBound TruncatedPoisson::log_bound_beyond(const StepCumulant& here, double s0, double reach,
                                              double enough) const {
  if (!std::isfinite(here.value) || !std::isfinite(here.error)) return {0.0, 0.0};
  const SampledGaussian first = uncut();
  const TiltedDistribution distribution = first.tilted_distribution(s0, 0.0);
  const TiltedDistribution other =
      std::visit([&](const auto& s) { return s.tilted_distribution(s0, 0.0); }, cut());
  const Parts parts = parts_of(overflow, distribution.cumulant, other.cumulant);
  // Each may leave half of what is enough. What is left of the cut steps may be little as it is.
  const double half = enough - std::log(2.0);
  const DecayBound of_uncut = first.log_bound_beyond(cumulant_of(distribution), s0, reach, half);
  DecayBound of_cut{0.0, 0.0};
  if (const double wanted = half - std::log(parts.cut_share); wanted < 0.0) {
    of_cut = std::visit(
        [&](const auto& s) { return s.log_bound_beyond(cumulant_of(other), s0, reach, wanted); },
        cut());
  }
  const double sum = parts.uncut_share * std::exp(of_uncut.log_ratio) +
                     parts.cut_share * std::exp(of_cut.log_ratio);
  // Both cumulants and that of the sum are off by their errors.
  const double off =
      distribution.error_at(0.0) + other.error_at(0.0) + here.error + parts.rounding +
      64.0 * kUnit * (1.0 + std::fabs(distribution.cumulant) + std::fabs(other.cumulant));
  return {
      std::min(0.0, std::log(sum) + 2.0 * off),
      of_uncut.points + of_cut.points + static_cast<double>(distribution.size() + other.size())};
}

LossDistribution TruncatedPoisson::loss_distribution() const {
  const LossDistribution of_uncut = uncut().loss_distribution();
  const LossDistribution of_cut =
      std::visit([](const auto& s) { return s.loss_distribution(); }, cut());
  LossDistribution distribution;
  for (const auto& [loss, mass] : of_cut.atoms) {
    distribution.atoms.push_back({loss, mixed(overflow, {0.0, 0.0}, mass)});
  }
  distribution.tails = [w = overflow, of_uncut, of_cut](double t) {
    const LossTails first = of_uncut.tails(t), second = of_cut.tails(t);
    return LossTails{
        mixed(w, first.p_above, second.p_above), mixed(w, first.p_below, second.p_below),
        mixed(w, first.q_above, second.q_above), mixed(w, first.q_below, second.q_below)};
  };
  return distribution;
}

double overflow_probability(std::uint64_t records, std::uint64_t cap, double q) {
  if (cap >= records) return 0.0;
  const boost::math::binomial_distribution<double> others(static_cast<double>(records - 1), q);
  const double tail =
      boost::math::cdf(boost::math::complement(others, static_cast<double>(cap) - 1.0));
  return std::min(1.0, std::max(tail * (1.0 + kTailError), kLeastOverflow));
}

double kept_probability(std::uint64_t records, std::uint64_t cap, double q) {
  if (cap >= records) return q;
  const auto n = static_cast<double>(records), b = static_cast<double>(cap);
  const boost::math::binomial_distribution<double> all(n, q);
  // q P(Bin(n-1, q) < B) + (B/n) P(Bin(n, q) > B): q/(j+1) P(Bin(n-1, q) = j) is P(Bin(n, q) = j+1) / n.
  const double beyond = boost::math::cdf(boost::math::complement(all, b));
  const double kept =
      q * (1.0 - overflow_probability(records, cap, q)) + b / n * beyond * (1.0 - kTailError);
  return std::clamp(kept * (1.0 - 16.0 * kUnit), 0.0, q);
}

}  // namespace sfumato
