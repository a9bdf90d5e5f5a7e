#include "sfumato/account/lattice/pld.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <complex>
#include <numbers>
#include <vector>

#include "sfumato/account/accountant/merged.hpp"
#include "sfumato/account/contour/compensated_sum.hpp"
#include "sfumato/account/contour/rounding_unit.hpp"
#include "sfumato/account/lattice/fourier.hpp"
#include "sfumato/account/lattice/loss_distribution.hpp"
#include "sfumato/account/lattice/loss_lattice.hpp"
#include "sfumato/core/error.hpp"
#include "sfumato/core/infinity.hpp"

namespace sfumato {
namespace {

double log_add(double a, double b) {
  if (a < b) std::swap(a, b);
  return b == -kInf ? a : a + std::log1p(std::exp(b - a));
}

struct Steps {
  LossDistribution distribution;
  double count;
};

// ---- Where to look: estimates only, which no bound depends on ----

/// A loss with its P-mass.
struct Sample {
  double loss, log_mass;
};

/// A distribution as some thousand losses, as fine in the small as in the large.
std::vector<Sample> sampled(const LossDistribution& distribution) {
  std::vector<Sample> samples;
  for (const auto& [loss, mass] : distribution.atoms) samples.push_back({loss, std::log(mass.hi)});
  if (!distribution.tails) return samples;
  constexpr int kPerDecade = 200;
  std::vector<double> thresholds{0.0};
  for (int i = -9 * kPerDecade; i <= 5 * kPerDecade; ++i) {
    const double size = std::pow(10.0, static_cast<double>(i) / kPerDecade);
    thresholds.push_back(size);
    thresholds.push_back(-size);
  }
  std::sort(thresholds.begin(), thresholds.end());
  LossTails before = distribution.tails(thresholds.front());
  for (std::size_t i = 1; i < thresholds.size(); ++i) {
    const LossTails here = distribution.tails(thresholds[i]);
    const bool upper = before.p_above.hi < here.p_below.hi;
    const double p =
        upper ? before.p_above.hi - here.p_above.hi : here.p_below.hi - before.p_below.hi;
    if (p > 1e-299) samples.push_back({0.5 * (thresholds[i - 1] + thresholds[i]), std::log(p)});
    before = here;
  }
  return samples;
}

struct Cumulant {
  double value = 0.0, mean = 0.0, variance = 0.0;
};

Cumulant cumulant_of(const std::vector<Sample>& samples, double s) {
  double largest = -kInf;
  for (const Sample& x : samples) largest = std::max(largest, x.log_mass + s * x.loss);
  double sum = 0.0, first = 0.0, second = 0.0;
  for (const Sample& x : samples) {
    const double a = std::exp(x.log_mass + s * x.loss - largest);
    sum += a;
    first += a * x.loss;
    second += a * x.loss * x.loss;
  }
  const double mean = first / sum;
  return {largest + std::log(sum), mean, std::max(0.0, second / sum - mean * mean)};
}

struct Estimate {
  const Observer* observer = nullptr;  ///< as of TotalLoss
  std::vector<std::vector<Sample>> samples = {};
  std::vector<double> counts = {};

  [[nodiscard]] Cumulant at(double s) const {
    Cumulant total;
    for (std::size_t j = 0; j < samples.size(); ++j) {
      require_going_on(observer);
      const Cumulant one = cumulant_of(samples[j], s);
      total.value += counts[j] * one.value;
      total.mean += counts[j] * one.mean;
      total.variance += counts[j] * one.variance;
    }
    return total;
  }
};

/// How the total is looked at: tilted by e^{s T}, through a window of losses, and from which abscissas its tails are bounded.
struct View {
  double tilt = 0.0;
  double tilt_above = 0.0, tilt_below = 0.0;
  double low = -kInf, high = kInf;
  double log_delta = 0.0;  ///< about
};

View view_of(const Estimate& estimate, double eps) {
  // The saddle point of e^{K(s) - s eps} / (s (s + 1)), s > 0.
  double low = std::log(1e-9), high = std::log(1e9);
  for (int i = 0; i < 60 && high - low > 1e-4; ++i) {
    const double middle = 0.5 * (low + high), s = std::exp(middle);
    const double slope = estimate.at(s).mean - eps - 1.0 / s - 1.0 / (1.0 + s);
    (slope < 0.0 ? low : high) = middle;
  }
  const double s = std::exp(0.5 * (low + high));
  const Cumulant at = estimate.at(s);
  const double unit = 1.0 / std::sqrt(std::max(at.variance, 1e-300));
  // Beyond the window there is e^-34 of the tilted mass at most.
  View view{s, s, s};
  for (double d = 0.5; d < 300.0; d *= 1.4) {
    const double above = s + d * unit, below = s - d * unit;
    // e^-34 = 2e-15, about what rounding adds to a transform: a wider window would only make the lattice coarser.
    const double top = (34.0 + estimate.at(above).value - at.value) / (above - s);
    if (top < view.high) view.high = top, view.tilt_above = above;
    const double bottom = -(34.0 + estimate.at(below).value - at.value) / (s - below);
    if (bottom > view.low) view.low = bottom, view.tilt_below = below;
  }
  view.low = std::min(view.low, eps);
  view.high = std::max(view.high, eps);
  view.log_delta = at.value - s * eps - std::log(s) - std::log1p(s) -
                   0.5 * std::log(2.0 * std::numbers::pi * (at.variance + 1.0 / (s * s)));
  return view;
}

/// The least size of a loss with beyond(size), up to 1 %.
template <class Beyond>
double least_size(double from, Beyond&& beyond) {
  double to = from;
  while (!beyond(to) && to < 1e9) to *= 2.0;
  from = 0.5 * to;
  while (to - from > 0.01 * to) {
    const double middle = 0.5 * (from + to);
    (beyond(middle) ? to : from) = middle;
  }
  return to;
}

/// The largest loss of one step that the lattice needs. What is above counts as infinite, which makes delta larger by its mass
/// times e^{eps - loss} only; a lattice without it can be tilted more.
double top_of(const Steps& steps, double eps, double log_delta) {
  double high = 0.0;
  for (const LossAtom& atom : steps.distribution.atoms) high = std::max(high, atom.loss);
  if (!steps.distribution.tails) return high;
  // A billionth of delta is far below the width that discretisation leaves.
  const double log_enough = std::max(log_delta + std::log(1e-9 / steps.count), -680.0);
  return std::max(high, least_size(1e-12, [&](double t) {
                    const double mass = steps.distribution.tails(t).p_above.hi;
                    return mass <= 2e-300 || (t >= eps && std::log(mass) - (t - eps) <= log_enough);
                  }));
}

double bottom_of(const Steps& steps) {
  double low = 0.0;
  for (const LossAtom& atom : steps.distribution.atoms) low = std::min(low, atom.loss);
  if (!steps.distribution.tails) return low;
  const double enough = 1e-18 / steps.count;
  return std::min(low, -least_size(1e-12, [&](double t) {
                    return steps.distribution.tails(-t).p_below.hi <= enough;
                  }));
}

/// The spacing: the window over the points, or a little less where that puts atoms on the lattice.
double spacing_of(const View& view, const std::vector<Steps>& all, std::size_t points) {
  const double least = (view.high - view.low) / static_cast<double>(points - 8);
  double atom = 0.0, weight = 0.0;
  for (const Steps& steps : all) {
    for (const LossAtom& a : steps.distribution.atoms) {
      if (a.loss != 0.0 && steps.count * a.p_mass.hi > weight) {
        atom = std::fabs(a.loss);
        weight = steps.count * a.p_mass.hi;
      }
    }
  }
  if (atom == 0.0) return least;
  const double parts = std::floor(atom / least);
  return parts >= 1.0 ? atom / parts : atom / (1.0 / std::floor(least / atom + 1.0));
}

// ---- The bounds ----

/// Lattice masses of one kind of step, tilted and divided by their sum.
struct TiltedLattice {
  double count;
  std::int64_t origin = 0;  ///< index of the largest mass
  double log_sum = 0.0;     ///< K(s) of the lattice distribution
  std::vector<double> mass;
  std::int64_t first = 0;
  double mass_error = 0.0;  ///< sum of the errors of the masses
};

double log_moment(const LatticeDistribution& distribution, double spacing, double s) {
  double largest = -kInf;
  std::vector<double> exponents(distribution.mass.size(), -kInf);
  for (std::size_t i = 0; i < distribution.mass.size(); ++i) {
    if (!(distribution.mass[i] > 0.0)) continue;
    exponents[i] =
        std::log(distribution.mass[i]) +
        s * spacing * static_cast<double>(distribution.first + static_cast<std::int64_t>(i));
    largest = std::max(largest, exponents[i]);
  }
  CompensatedSum sum;
  for (const double x : exponents) sum.add(std::exp(x - largest));
  // Rounded up: each exponent by its size.
  // Terms that are not zero have exponents within 745 of the largest, and logarithms of masses are 745 at most: 1,500 bounds both.
  return largest + std::log(sum.value()) + 8.0 * kUnit * (4.0 + std::fabs(largest) + 1500.0);
}

TiltedLattice tilted(const LatticeDistribution& distribution, double spacing, double s,
                     double count) {
  TiltedLattice result{
      count, 0, 0.0, std::vector<double>(distribution.mass.size()), distribution.first, 0.0};
  std::vector<double> exponents(distribution.mass.size(), -kInf);
  double largest = -kInf;
  for (std::size_t i = 0; i < distribution.mass.size(); ++i) {
    if (!(distribution.mass[i] > 0.0)) continue;
    const std::int64_t index = distribution.first + static_cast<std::int64_t>(i);
    exponents[i] = std::log(distribution.mass[i]) + s * spacing * static_cast<double>(index);
    if (exponents[i] > largest) {
      largest = exponents[i];
      result.origin = index;
    }
  }
  CompensatedSum sum;
  for (const double x : exponents) sum.add(std::exp(x - largest));
  result.log_sum = largest + std::log(sum.value());
  CompensatedSum error;
  for (std::size_t i = 0; i < exponents.size(); ++i) {
    const double a = std::exp(exponents[i] - result.log_sum);
    result.mass[i] = a;
    if (!(a > 0.0)) continue;
    const double tilt = std::fabs(exponents[i] - std::log(distribution.mass[i]));
    error.add(a * kUnit *
              (12.0 + 2.0 * std::fabs(std::log(distribution.mass[i])) + 4.0 * tilt +
               2.0 * std::fabs(result.log_sum)));
  }
  result.mass_error = error.value() * (1.0 + 1e-6) + 1e-300 * static_cast<double>(exponents.size());
  return result;
}

/// log(1 + x).
Complex log_one_plus(Complex x) {
  const double a = x.real(), b = x.imag();
  const double modulus = std::fabs(a) + std::fabs(b) < 0.5
                             ? 0.5 * std::log1p(2.0 * a + (a * a + b * b))
                             : std::log(std::hypot(1.0 + a, b));
  return {modulus, std::atan2(b, 1.0 + a)};
}

enum class Bound { upper, lower };

/// Sum over the window of c_t e^{-s (t - eps)} (1 - e^{eps - t})_+, c being the tilted distribution of the total, and what it may be off by.
struct WindowSum {
  double value, error;
  double heaviest;  ///< the largest factor of c_t
};

WindowSum window_sum(const std::vector<TiltedLattice>& distributions, const Fourier& fourier,
                     double spacing, double s, double eps, double window_low,
                     const Observer* observer) {
  const std::size_t points = fourier.length();
  const auto n = static_cast<double>(points);
  std::vector<Complex> log_total(points / 2 + 1);
  std::vector<double> log_wide(points / 2 + 1);  // of the product of (|f| + error)^k
  struct Spectrum {
    std::vector<double> modulus;
    double sup_error, l2_error, own_error, count;
  };
  std::vector<Spectrum> spectra;
  std::vector<double> logarithms(points / 2 + 1);  // sizes of the logarithms that were multiplied
  double origin = 0.0;  // of the total, in units of the spacing: exact below 2^53
  for (const TiltedLattice& distribution : distributions) {
    require_going_on(observer);
    std::vector<Complex> values(points);
    CompensatedSum rest, squares;
    double largest = 0.0;
    for (std::size_t i = 0; i < distribution.mass.size(); ++i) {
      const std::int64_t from_origin =
          distribution.first + static_cast<std::int64_t>(i) - distribution.origin;
      if (from_origin == 0) {
        largest = distribution.mass[i];
        continue;
      }
      const auto place =
          static_cast<std::size_t>(from_origin) & (points - 1);  // modulo a power of two
      values[place] += distribution.mass[i];
      rest.add(distribution.mass[i]);
    }
    for (const Complex& value : values) squares.add(std::norm(value));
    fourier.transform(values);
    Spectrum spectrum;
    spectrum.count = distribution.count;
    // The largest mass is left out of the transform, whose error is relative to the rest: f = 1 + (transform - rest).
    // The error of the transform is known in the 2-norm of all frequencies, that of the masses at each of them.
    spectrum.l2_error = fourier.relative_error() * std::sqrt(n * squares.value()) * (1.0 + 1e-6);
    spectrum.own_error =
        distribution.mass_error + std::fabs(largest + rest.value() - 1.0) + 8.0 * kUnit +
        4.0 * kUnit * rest.value() * (1.0 + static_cast<double>(distribution.mass.size()) / n);
    spectrum.sup_error = spectrum.l2_error + spectrum.own_error;
    spectrum.modulus.resize(points / 2 + 1);
    for (std::size_t w = 0; w <= points / 2; ++w) {
      const Complex change = values[w] - rest.value();
      const Complex logarithm = log_one_plus(change);
      spectrum.modulus[w] = std::exp(logarithm.real());
      log_total[w] += distribution.count * logarithm;
      log_wide[w] += distribution.count * std::log(spectrum.modulus[w] + spectrum.sup_error);
      logarithms[w] += distribution.count * std::abs(logarithm);
    }
    spectra.push_back(std::move(spectrum));
    origin += distribution.count * static_cast<double>(distribution.origin);
  }
  // The transform of the total, back, and per point of the window at most:
  std::vector<Complex> total(points);
  CompensatedSum own, powers, size;
  std::vector<CompensatedSum> wide_squares(spectra.size());
  for (std::size_t w = 0; w <= points / 2; ++w) {
    if (w % 4096 == 0) require_going_on(observer);
    const double twice = w == 0 || w == points / 2 ? 1.0 : 2.0;
    const double modulus = std::exp(log_total[w].real());
    const Complex value = std::polar(modulus, log_total[w].imag());
    // transform() turns by +; the way back turns by -.
    total[w] = std::conj(value);
    if (w > 0 && w < points / 2) total[points - w] = value;
    size.add(twice * modulus * modulus);
    if (modulus > 0.0) powers.add(twice * modulus * 8.0 * kUnit * (8.0 + 2.0 * logarithms[w]));
    for (std::size_t j = 0; j < spectra.size(); ++j) {
      // One factor of the product is off, and the others are as large as they can be with their own errors: that telescopes |prod f - prod f~|.
      const double others =
          std::exp(log_wide[w] - std::log(spectra[j].modulus[w] + spectra[j].sup_error));
      own.add(twice * spectra[j].count * spectra[j].own_error * others);
      wide_squares[j].add(twice * others * others);
    }
  }
  double per_point = own.value() + powers.value();
  for (std::size_t j = 0; j < spectra.size(); ++j) {
    // By Cauchy-Schwarz, for what is known in the 2-norm.
    per_point += spectra[j].count * spectra[j].l2_error * std::sqrt(wide_squares[j].value());
  }
  per_point *= 1.001 / n;
  const double back = fourier.relative_error() * std::sqrt(size.value() / n) * 1.001;
  fourier.transform(total);

  const double first = std::ceil(window_low / spacing);
  CompensatedSum value, weights, weight_squares, rounding;
  double heaviest = 0.0;
  for (std::size_t i = 0; i < points; ++i) {
    const double index = first + static_cast<double>(i);
    const double gap = index * spacing - eps;
    if (!(gap > 0.0)) continue;
    const double weight = std::exp(-s * gap) * -std::expm1(-gap);
    const double offset = index - origin;  // modulo the number of points
    const double wrapped = offset - n * std::floor(offset / n);
    const double c = total[static_cast<std::size_t>(wrapped)].real() / n;
    value.add(c * weight);
    weights.add(weight);
    weight_squares.add(weight * weight);
    const double slip = 2.0 * kUnit * (std::fabs(index * spacing) + std::fabs(eps));  // of the gap
    rounding.add(std::fabs(c) * weight * (8.0 * kUnit * (4.0 + s * gap) + s * slip) +
                 std::fabs(c) * slip * std::exp(-s * gap));
    heaviest = std::max(heaviest, weight);
  }
  const double error =
      per_point * weights.value() + back * std::sqrt(weight_squares.value()) + rounding.value();
  // The largest possible weight, also between points.
  const double peak = std::exp(s * (std::log(s) - std::log1p(s)) - std::log1p(s));
  return {value.value(), error * 1.001, std::max(heaviest, peak)};
}

struct Problem {
  std::vector<Steps> steps;
  View view;
  double spacing;
  std::vector<LatticeRange> ranges;
  const Observer* observer;
};

/// The upper or the lower end of log delta(eps) of the total, which is the logarithm of a number between 0 and 1.
double log_bound(const Problem& problem, double eps, const Fourier& fourier, Bound bound) {
  const double s = problem.view.tilt, h = problem.spacing;
  std::vector<TiltedLattice> distributions;
  double infinite = 0.0, slack = 0.0, above = 0.0, below = 0.0, total = 0.0, size = 0.0;
  for (std::size_t j = 0; j < problem.steps.size(); ++j) {
    require_going_on(problem.observer);
    const Steps& steps = problem.steps[j];
    const LatticeDistribution distribution =
        bound == Bound::upper ? upper_lattice(steps.distribution, problem.ranges[j])
                              : lower_lattice(steps.distribution, problem.ranges[j]);
    if (std::none_of(distribution.mass.begin(), distribution.mass.end(),
                     [](double x) { return x > 0.0; })) {
      return bound == Bound::upper ? 0.0 : -kInf;
    }
    distributions.push_back(tilted(distribution, h, s, steps.count));
    // With hardly any noise the tilt of a loss is beyond what a double holds.
    if (!std::isfinite(distributions.back().log_sum) ||
        !std::isfinite(distributions.back().mass_error)) {
      return bound == Bound::upper ? 0.0 : -kInf;
    }
    infinite += steps.count * distribution.infinite;
    slack += steps.count * distribution.slack;
    above += steps.count * log_moment(distribution, h, problem.view.tilt_above);
    below += steps.count * log_moment(distribution, h, problem.view.tilt_below);
    total += steps.count * distributions.back().log_sum;
    size += std::fabs(steps.count * distributions.back().log_sum);
  }
  const double at = bound == Bound::upper ? eps - slack : eps + slack;
  const double n = static_cast<double>(fourier.length());
  const double low = std::ceil(problem.view.low / h) * h, high = low + (n - 1.0) * h;
  const WindowSum sum =
      window_sum(distributions, fourier, h, s, at, problem.view.low, problem.observer);
  const double log_scale = total - s * at;
  const double guard = 8.0 * kUnit * (8.0 + size + std::fabs(s * at));
  const auto log_of = [](double x) { return x > 0.0 ? std::log(x) : -kInf; };
  if (bound == Bound::upper) {
    // Above the window (the untilted mass), and what is infinite.
    const double log_above = above - problem.view.tilt_above * high;
    const double log_hi =
        log_add(log_add(log_scale + log_of(std::max(sum.value + sum.error, 0.0)), log_above),
                log_of(infinite * (1.0 + 1e-9)));
    return std::min(0.0, log_hi + guard);
  }
  // Too much in the window: tilted mass from outside of it.
  const double log_folded = log_add(above - total - (problem.view.tilt_above - s) * high,
                                    below - total + (s - problem.view.tilt_below) * low);
  const double lo = sum.value - sum.error - std::exp(log_folded + guard) * sum.heaviest;
  return lo > 0.0 ? std::min(0.0, log_scale + std::log(lo) - guard) : -kInf;
}

LogEnclosure delta_of_steps(std::vector<Steps> steps, double eps, const PldGrid& grid,
                            const Observer* observer) {
  if (steps.empty()) {
    if (eps >= 0.0) return {-kInf, -kInf};
    const double exact = std::log(-std::expm1(eps));
    const double rounding = 4.0 * kUnit * (1.0 + std::fabs(exact));
    return {exact - rounding, std::min(0.0, exact + rounding)};
  }
  if (steps.size() == 1 && steps.front().count == 1.0)
    return one_step_delta(steps.front().distribution, eps);
  Estimate estimate{observer};
  for (const Steps& s : steps) {
    require_going_on(observer);
    estimate.samples.push_back(sampled(s.distribution));
    estimate.counts.push_back(s.count);
  }
  View view = view_of(estimate, eps);
  std::vector<double> tops(steps.size());
  for (int pass = 0; pass < 3; ++pass) {
    Estimate cut = estimate;
    for (std::size_t j = 0; j < steps.size(); ++j) {
      require_going_on(observer);
      tops[j] = top_of(steps[j], eps, view.log_delta);
      std::erase_if(cut.samples[j], [&](const Sample& x) { return x.loss > tops[j]; });
    }
    view = view_of(cut, eps);
  }
  const double spacing = spacing_of(view, steps, grid.points);
  Problem problem{std::move(steps), view, spacing, {}, observer};
  const double most = 8.0 * static_cast<double>(grid.points);
  for (std::size_t j = 0; j < problem.steps.size(); ++j) {
    require_going_on(observer);
    const double low = std::floor(bottom_of(problem.steps[j]) / spacing) - 2.0;
    const double high = std::ceil(tops[j] / spacing) + 2.0;
    problem.ranges.push_back({spacing, static_cast<std::int64_t>(std::max(low, -most)),
                              static_cast<std::int64_t>(std::min(high, most))});
  }
  const Fourier fourier(grid.points);
  return {log_bound(problem, eps, fourier, Bound::lower),
          log_bound(problem, eps, fourier, Bound::upper)};
}

}  // namespace

LogEnclosure pld_delta(const TotalLoss& loss, double eps, const PldGrid& grid) {
  require_valid(loss);
  if (std::isnan(eps)) throw InvalidArgument("eps is not a number", "Pass an epsilon");
  if (!std::has_single_bit(grid.points) || grid.points < 64) {
    throw InvalidArgument("the number of points is not a power of two of at least 64",
                          "Pass for example 131072");
  }
  if (eps == kInf || eps == -kInf) {
    // Where nothing fails delta is 0 or 1.
    const double log_failure =
        loss.log_survival < 0.0 ? std::log(-std::expm1(loss.log_survival)) : -kInf;
    return eps < 0.0
               ? LogEnclosure{0.0, 0.0}
               : LogEnclosure{log_failure - 8.0 * kUnit, std::min(0.0, log_failure + 8.0 * kUnit)};
  }
  if (loss.steps.size() > kMergedKinds) {  // as many kinds as the contour has, on either side
    TotalLoss up = loss, down = loss;
    up.steps = merged(loss.steps, Merge::up);
    down.steps = merged(loss.steps, Merge::down);
    return {pld_delta(down, eps, grid).log_lo, pld_delta(up, eps, grid).log_hi};
  }
  std::vector<Steps> steps;
  for (const StepLoss& step : loss.steps) {
    require_going_on(loss.observer);
    steps.push_back({loss_distribution_of(step), count_of(step)});
  }
  if (loss.mu_squared > 0.0) steps.push_back({normal_loss_distribution(loss.mu_squared), 1.0});
  // The shift is a sum of roundings.
  const double slip = 4.0 * kUnit * (std::fabs(loss.shift) + std::fabs(eps));
  LogEnclosure rest{};
  if (loss.shift == 0.0) {
    rest = delta_of_steps(std::move(steps), eps, grid, loss.observer);
  } else {
    rest = {delta_of_steps(steps, eps - loss.shift + slip, grid, loss.observer).log_lo,
            delta_of_steps(steps, eps - loss.shift - slip, grid, loss.observer).log_hi};
  }
  if (const double floor = eps - loss.shift < 0.0 ? std::log(-std::expm1(eps - loss.shift)) : -kInf;
      floor > rest.log_lo) {
    rest.log_lo =
        floor - 4.0 * kUnit * (1.0 + std::fabs(floor) + slip / std::fabs(eps - loss.shift));
  }
  if (loss.log_survival == 0.0) return rest;
  const double log_failure = std::log(-std::expm1(loss.log_survival));
  const double guard = 16.0 * kUnit * (2.0 + std::fabs(log_failure) + std::fabs(loss.log_survival));
  return {log_add(log_failure, loss.log_survival + rest.log_lo) - guard,
          std::min(0.0, log_add(log_failure, loss.log_survival + rest.log_hi) + guard)};
}

}  // namespace sfumato
