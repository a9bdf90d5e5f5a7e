#include "sfumato/privacy/accounting/split.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <numbers>
#include <vector>

#include "sfumato/privacy/accounting/compensated_sum.hpp"
#include "sfumato/privacy/accounting/ratio.hpp"
#include "sfumato/privacy/accounting/tilted_law.hpp"
#include "sfumato/privacy/accounting/trapezoid.hpp"

namespace sfumato {
namespace {

using namespace trapezoid;
using Complex = std::complex<double>;

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kPi = std::numbers::pi;
constexpr double kTarget = 1e-15;
constexpr double kMostNodes = 2e4;  // of one step
constexpr double kMostHits = 50.0;  // expected

/// Phi((z - at) / width): how much of z belongs to a hit.
struct Cut {
  double at, width;
  [[nodiscard]] double hit(double z) const {
    return 0.5 * std::erfc((at - z) / (width * std::numbers::sqrt2));
  }
  [[nodiscard]] double bulk(double z) const {
    return 0.5 * std::erfc((z - at) / (width * std::numbers::sqrt2));
  }
};

/// One step at an abscissa, in two parts; everything in units of M(s0).
class SplitStep {
 public:
  SplitStep(const RatioStep& step, const Cut& cut, double s0, double reach)
      : step_(step), cut_(cut), s0_(s0), spacing_(spacing_for(step, s0, reach, cut.width)) {
    const Range range = range_of(step, s0);
    first_ = std::ceil(range.low / spacing_);
    last_ = std::floor(range.high / spacing_);
    if (last_ - first_ > kMostNodes) return;  // not for this cut
    const auto count = static_cast<std::size_t>(last_ - first_ + 1.0);
    std::vector<double> z(count), log_weight(count), exponent(count);
    loss_.resize(count);
    double largest_exponent = 0.0, largest_term = -kInf;
    for (std::size_t j = 0; j < count; ++j) {
      z[j] = (first_ + static_cast<double>(j)) * spacing_;
      const RatioStep::Loss at = step.loss_at(z[j]);
      loss_[j] = at.loss;
      log_weight[j] = std::log(spacing_) - 0.5 * z[j] * z[j] - kLogRootTwoPi;
      exponent[j] = at.log_density + s0 * at.loss;
      largest_exponent = std::max(largest_exponent, exponent[j]);
      largest_term = std::max(largest_term, log_weight[j] + exponent[j]);
    }
    CompensatedSum sum;
    for (std::size_t j = 0; j < count; ++j) {
      sum.add(largest_exponent <= 600.0 ? std::exp(log_weight[j]) * std::expm1(exponent[j])
                                        : std::exp(log_weight[j] + exponent[j] - largest_term));
    }
    cumulant_ =
        largest_exponent <= 600.0 ? std::log1p(sum.value()) : largest_term + std::log(sum.value());
    CompensatedSum hit, mean, square, slope, floor, hit_floor, hit_slope;
    double log_bulk_top = -kInf;
    std::vector<double> log_bulk(count);
    for (std::size_t j = 0; j < count; ++j) {
      const double a = std::exp(log_weight[j] + exponent[j] - cumulant_);
      const double size = std::fabs(loss_[j]), x = std::fabs(exponent[j]);
      const double half_square = 0.5 * z[j] * z[j];
      const double b = a * cut.hit(z[j]);
      all_.push_back(a);
      hit_.push_back(b);
      hit.add(b);
      mean.add(b * loss_[j]);
      square.add(b * loss_[j] * loss_[j]);
      slope.add(a * ((11.0 + half_square) * size -
                     2.0 * step.ratio.slope() * std::fabs(z[j]) * std::expm1(-size)));
      floor.add((8.0 + half_square) * std::min(x, 1.0) *
                    std::max(a, std::exp(log_weight[j] - cumulant_)) +
                3.0 * a * x);
      hit_floor.add(b * (10.0 + half_square + 3.0 * x));
      hit_slope.add(b * 4.0 * size);
      log_bulk[j] = log_weight[j] + exponent[j] + std::log(std::max(cut.bulk(z[j]), 1e-300));
      log_bulk_top = std::max(log_bulk_top, log_bulk[j]);
    }
    CompensatedSum bulk;
    for (const double term : log_bulk) bulk.add(std::exp(term - log_bulk_top));
    log_bulk_ = log_bulk_top + std::log(bulk.value());
    hit_share_ = hit.value();
    const double average = mean.value() / hit_share_;
    hit_variance_ = std::max(square.value() / hit_share_ - average * average, 0.0);
    error_slope_ = 4.0 * kUnit * slope.value();
    error_floor_ = 4.0 * kUnit * floor.value() + 2.2e-21 + 2e-17 / step.k;
    hit_error_slope_ = 4.0 * kUnit * hit_slope.value();
    hit_error_floor_ = 4.0 * kUnit * hit_floor.value() + 2.2e-21 + 2e-17 / step.k * hit_share_;
  }

  [[nodiscard]] std::size_t nodes() const { return loss_.size(); }
  [[nodiscard]] bool is_too_fine() const { return loss_.empty(); }
  [[nodiscard]] double cumulant() const { return cumulant_; }    ///< log M(s0)
  [[nodiscard]] double log_bulk() const { return log_bulk_; }    ///< log A(s0), from its own terms
  [[nodiscard]] double hit_share() const { return hit_share_; }  ///< B(s0) / M(s0)
  [[nodiscard]] double hit_variance() const { return hit_variance_; }

  struct Values {
    Complex change;  ///< M(s0 + iy) / M(s0) - 1
    Complex hit;     ///< B(s0 + iy) / M(s0)
  };
  [[nodiscard]] Values at(double y) const {
    CompensatedSum re, im, hit_re, hit_im;
    for (std::size_t j = 0; j < loss_.size(); ++j) {
      const double half = 0.5 * y * loss_[j];
      const double s = std::sin(half), c = std::cos(half);
      const double down = -2.0 * s * s, turn = 2.0 * s * c;
      re.add(all_[j] * down);
      im.add(all_[j] * turn);
      hit_re.add(hit_[j] * (1.0 + down));
      hit_im.add(hit_[j] * turn);
    }
    return {{re.value(), im.value()}, {hit_re.value(), hit_im.value()}};
  }
  [[nodiscard]] double error_at(double y) const { return error_slope_ * y + error_floor_; }
  [[nodiscard]] double hit_error_at(double y) const {
    return hit_error_slope_ * y + hit_error_floor_;
  }

  /// The most that log(|B(s0 + iy)| / M(s0)) can be for y >= reach (Spec §18.5, Theorem T).
  [[nodiscard]] double log_hit_beyond(double reach) const {
    double best = std::log(hit_share_);
    const double widest = 0.8 * kPi / step_.ratio.slope();
    const double natural = reach * std::sqrt(hit_variance_);
    for (const double eta : {0.1 * natural, 0.3 * natural, 0.6 * natural, natural,
                             0.3 * cut_.width * cut_.width * natural, 0.02 * widest, 0.05 * widest,
                             0.1 * widest, 0.2 * widest, 0.4 * widest, 0.7 * widest, widest}) {
      if (eta > 0.0 && eta <= widest) best = std::min(best, log_hit_on_line(eta, reach));
    }
    return best;
  }

 private:
  [[nodiscard]] double log_hit_on_line(double eta, double reach) const {
    const double m = step_.ratio.slope(), h = 0.5 * spacing_, g = step_.turns(),
                 p = step_.cosine_power(s0_);
    const double spread = 1.0 + 1.0 / (cut_.width * cut_.width);
    const auto count = static_cast<std::size_t>(2.0 * (last_ - first_) + 1.0);
    std::vector<double> terms(count);
    double largest = -kInf, largest_size = 0.0;
    for (std::size_t j = 0; j < count; ++j) {
      const double x = first_ * spacing_ + static_cast<double>(j) * h;
      const auto [power, turn] = step_.off_axis(x, eta, s0_);
      terms[j] = -0.5 * x * x - kLogRootTwoPi + power - reach * turn +
                 std::log(std::max(cut_.hit(x), 1e-300));
      largest = std::max(largest, terms[j]);
      largest_size = std::max(largest_size, std::fabs(power) + reach * turn);
    }
    CompensatedSum sum;
    for (const double term : terms) sum.add(std::exp(term - largest));
    const double log_sum =
        std::log(h * sum.value()) + largest + 0.5 * eta * eta * spread - cumulant_;
    double quadrature = kInf;
    for (int i = 1; i <= 9; ++i) {
      const double c = 0.1 * i * (kPi / m - eta);
      const double cosines = std::cos(0.5 * m * (eta + c)) * std::cos(0.5 * m * (eta - c));
      if (!(cosines > 0.0)) continue;
      quadrature =
          std::min(quadrature,
                   std::log(2.0 * hit_share_) + 0.5 * c * c * spread + 0.5 * eta * eta * spread +
                       0.5 * g * m * reach * std::max(0.0, c - eta) - 0.5 * p * std::log(cosines) -
                       2.0 * kPi * c / h - std::log(-std::expm1(-2.0 * kPi * c / h)));
    }
    const double rounding = 4.0 * kUnit * (10.0 + largest_size);
    const double tails =
        std::log(2.2e-21) + 0.5 * eta * eta * spread - p * std::log(std::cos(0.5 * m * eta));
    const double top = std::max({log_sum, quadrature, tails});
    return top + std::log(std::exp(log_sum - top) * (1.0 + rounding) + std::exp(quadrature - top) +
                          std::exp(tails - top));
  }

  RatioStep step_;
  Cut cut_;
  double s0_, spacing_;
  double first_ = 0.0, last_ = 0.0;
  std::vector<double> loss_, all_, hit_;
  double cumulant_ = 0.0, log_bulk_ = 0.0, hit_share_ = 0.0, hit_variance_ = 0.0;
  double error_slope_ = 0.0, error_floor_ = 0.0, hit_error_slope_ = 0.0, hit_error_floor_ = 0.0;
};

Complex complex_expm1(Complex x) {
  const double s = std::sin(0.5 * x.imag());
  return {std::expm1(x.real()) - 2.0 * std::exp(x.real()) * s * s,
          std::exp(x.real()) * std::sin(x.imag())};
}

/// A ledger cut in two.
struct SplitLoss {
  std::vector<RatioStep> all;
  double mu_squared;
  std::vector<Cut> cuts;
  double* budget;  ///< nodes that the search for a cut may still evaluate

  [[nodiscard]] std::vector<SplitStep> at(double s, double reach) const {
    std::vector<SplitStep> steps;
    for (std::size_t j = 0; j < cuts.size(); ++j) {
      steps.emplace_back(all[j], cuts[j], s, reach);
    }
    return steps;
  }
  [[nodiscard]] double normal(double s) const { return 0.5 * mu_squared * s * (s + 1.0); }

  /// log(prod M^k - prod A^k) at a real s, by how much it may be too small, and the variance of a hit.
  struct Real {
    double value, error, variance;
  };
  [[nodiscard]] Real hits(double s) const {
    double whole = normal(s), rest = 0.0, variance = 0.0, error = 8.0 * kUnit * 10.0;
    const std::vector<SplitStep> steps = at(s, 0.0);
    for (std::size_t j = 0; j < steps.size(); ++j) {
      *budget -= static_cast<double>(steps[j].nodes());
      if (steps[j].is_too_fine() || *budget < 0.0) return {kInf, 0.0, 1.0};
      const double k = all[j].k;
      whole += k * steps[j].cumulant();
      rest += k * std::log1p(-std::min(steps[j].hit_share(), 1.0 - 1e-16));
      variance = std::max(variance, steps[j].hit_variance());
      error += k * steps[j].error_at(0.0) + steps[j].hit_error_at(0.0) / steps[j].hit_share() +
               8.0 * kUnit * k * std::fabs(steps[j].cumulant());
    }
    return {whole + std::log(-std::expm1(rest)), error, variance + mu_squared};
  }
  /// log delta_A at most: Chernoff's bound of the bulk at s.
  [[nodiscard]] double log_bulk(double eps, double s) const {
    double sum =
        normal(s) - s * eps + (s == 0.0 ? 0.0 : s * std::log(s) - (1.0 + s) * std::log1p(s));
    double size = std::fabs(sum) + std::fabs(s * eps);
    const std::vector<SplitStep> steps = at(s, 0.0);
    for (std::size_t j = 0; j < steps.size(); ++j) {
      *budget -= static_cast<double>(steps[j].nodes());
      if (steps[j].is_too_fine() || *budget < 0.0) return kInf;
      sum += all[j].k * steps[j].log_bulk();
      size += all[j].k * (std::fabs(steps[j].log_bulk()) + 30.0 * steps[j].error_at(0.0) / kUnit);
    }
    return sum + 8.0 * kUnit * (size + 10.0);
  }
};

/// The least of a function of log s that has one minimum: a bracket by doubling from 1, then golden section.
template <class F>
double least(F&& f, double low, double high, double& at) {
  double left = 1.0, middle = std::min(1.0, high), right = middle;
  double f_middle = f(middle);
  left = 0.5 * middle;
  double f_left = f(left);
  if (f_left < f_middle) {
    while (f_left < f_middle && left > low) {
      right = middle;
      middle = left;
      f_middle = f_left;
      left *= 0.5;
      f_left = f(left);
    }
  } else {
    right = std::min(2.0 * middle, high);
    for (double f_right = f(right); f_right < f_middle && right < high; f_right = f(right)) {
      left = middle;
      middle = right;
      f_middle = f_right;
      right = std::min(2.0 * right, high);
    }
  }
  constexpr double kRatio = 0.6180339887498949;
  double a = std::log(left), b = std::log(right);
  double c = b - kRatio * (b - a), d = a + kRatio * (b - a);
  double fc = f(std::exp(c)), fd = f(std::exp(d));
  while (b - a > 0.05) {
    if (fc < fd) {
      b = d;
      d = c;
      fd = fc;
      c = b - kRatio * (b - a);
      fc = f(std::exp(c));
    } else {
      a = c;
      c = d;
      fc = fd;
      d = a + kRatio * (b - a);
      fd = f(std::exp(d));
    }
  }
  at = std::exp(fc < fd ? c : d);
  return std::min(fc, fd);
}

/// The z at which the loss of one step is `loss`.
double place_of(const RatioStep& step, double loss) {
  double low = 0.0, high = 1.0;
  while (step.loss_at(high).loss < loss && high < 1e6) high *= 2.0;
  while (step.loss_at(low).loss > loss && low > -1e6) low = 2.0 * low - 1.0;
  for (int i = 0; i < 60; ++i) {
    const double mid = 0.5 * (low + high);
    (step.loss_at(mid).loss < loss ? low : high) = mid;
  }
  return 0.5 * (low + high);
}

double log_kernel(double s) { return -std::log(s) - std::log1p(s); }

std::optional<LogEnclosure> along(const SplitLoss& split, double eps, double s0, double log_bulk,
                                  double work) {
  const SplitLoss::Real at = split.hits(s0);
  const double log_estimate =
      at.value - s0 * eps + log_kernel(s0) -
      0.5 * std::log(2.0 * kPi * (at.variance + 1.0 / (s0 * s0) + 1.0 / ((1.0 + s0) * (1.0 + s0))));
  const double log_target = log_estimate + std::log(kTarget);
  // Aliases: Theorem A with the transform of the hits.
  const double unit = 1.0 / std::sqrt(at.variance);
  struct Place {
    double log_a, distance;
    bool above;
  };
  std::vector<Place> places;
  const auto chernoff = [&](double s) {
    const SplitLoss::Real there = split.hits(s);
    return (s == 0.0 ? 0.0 : s * std::log(s) - (1.0 + s) * std::log1p(s)) + there.value +
           there.error - s * eps + 8.0 * kUnit * std::fabs(s * eps);
  };
  double best[2] = {kInf, kInf};
  for (const bool above : {true, false}) {
    for (const double d : {0.5, 1.0, 2.0, 4.0, 7.0, 10.0, 15.0, 30.0}) {
      const double s = above ? s0 + d * unit : s0 - d * unit;
      if (s < 0.0) break;
      places.push_back({chernoff(s), d * unit, above});
      const double log_ratio = places.back().log_a - (log_target - std::log(2.0));
      const double period = (log_ratio > 0.0 ? log_ratio + std::log1p(std::exp(-log_ratio))
                                             : std::log1p(std::exp(log_ratio))) /
                            places.back().distance;
      if (period > 1.5 * best[above ? 1 : 0]) break;
      best[above ? 1 : 0] = std::min(best[above ? 1 : 0], period);
    }
  }
  places.push_back({chernoff(0.0), s0, false});
  {
    const double log_ratio = places.back().log_a - (log_target - std::log(2.0));
    best[0] = std::min(best[0], (log_ratio > 0.0 ? log_ratio + std::log1p(std::exp(-log_ratio))
                                                 : std::log1p(std::exp(log_ratio))) /
                                    s0);
  }
  const double period = std::max(best[0], best[1]);
  if (!std::isfinite(period)) return std::nullopt;
  double log_alias[2] = {kInf, kInf};
  for (const Place& p : places) {
    const double x = p.distance * period;
    double& least_error = log_alias[p.above ? 1 : 0];
    least_error = std::min(least_error, p.log_a - x - std::log(-std::expm1(-x)));
  }
  const double h = 2.0 * kPi / period;
  // Truncation.
  double reach = std::max(8.0 / std::sqrt(at.variance), 2.0 * h), log_left = kInf;
  std::vector<SplitStep> steps;
  double log_scale = 0.0, spent = 0.0;
  for (int i = 0; i < 60; ++i) {
    steps = split.at(s0, reach);
    log_scale = split.normal(s0) - s0 * eps;
    double nodes = 0.0, sum = 0.0;
    for (std::size_t j = 0; j < steps.size(); ++j) {
      if (steps[j].is_too_fine()) return std::nullopt;
      log_scale += split.all[j].k * steps[j].cumulant();
      nodes += static_cast<double>(steps[j].nodes());
      sum += split.all[j].k * std::exp(steps[j].log_hit_beyond(reach));
    }
    log_left =
        std::log(sum) - 0.5 * split.mu_squared * reach * reach - std::log(kPi * reach) + log_scale;
    if (log_left <= log_target) break;
    spent += 24.0 * nodes;
    // What is left out is part of the enclosure.
    if (reach / h * nodes > work || spent > work) break;
    reach *= 1.3;
  }
  const double count = std::ceil(reach / h);
  double nodes = 0.0;
  for (const SplitStep& step : steps) nodes += static_cast<double>(step.nodes());
  if (!(count * nodes <= 2.0 * work)) return std::nullopt;
  CompensatedSum value, rounding;
  for (double n = 0.0; n <= count; ++n) {
    const double y = n * h;
    const Complex s(s0, y);
    Complex log_all(-0.5 * split.mu_squared * y * y, (split.mu_squared * (s0 + 0.5) - eps) * y);
    Complex log_rest(0.0, 0.0);
    const double normal_size = log_all.real();
    double log_product = normal_size, relative = 0.0, sizes = 0.0;
    for (std::size_t j = 0; j < steps.size(); ++j) {
      const double k = split.all[j].k;
      const SplitStep::Values v = steps[j].at(y);
      const Complex all = 1.0 + v.change;
      log_all += k * complex_log1p(v.change);
      log_rest += k * complex_log1p(-v.hit / all);
      const double error = steps[j].error_at(y);
      const double most = std::max(std::abs(all), std::abs(all - v.hit)) + error;
      log_product += k * std::log(most);
      relative += k * error / most;
      sizes += k / most * std::abs(v.hit);
    }
    CompensatedSum own;
    for (std::size_t j = 0; j < steps.size(); ++j) {
      const double k = split.all[j].k;
      const SplitStep::Values v = steps[j].at(y);
      const double most = std::max(std::abs(1.0 + v.change), std::abs(1.0 + v.change - v.hit)) +
                          steps[j].error_at(y);
      own.add(k / most * steps[j].hit_error_at(y));
    }
    const Complex transform = -std::exp(log_all) * complex_expm1(log_rest);
    const Complex kernel = 1.0 / (s * (s + 1.0));
    const Complex f = kernel * transform;
    const double half = n == 0.0 ? 0.5 : 1.0;
    value.add(half * f.real());
    const double ulps =
        8.0 * kUnit *
        (std::abs(s) * std::fabs(eps) + split.mu_squared * std::norm(s) + 10.0 + 0.1 * count);
    rounding.add(half *
                 (std::exp(log_product) * (sizes * relative + own.value()) * std::abs(kernel) +
                  std::abs(f) * ulps));
  }
  const double sum = h / kPi * value.value(), error = h / kPi * rounding.value();
  const double left = std::exp(log_left - log_scale);
  const double aliased = std::exp(log_alias[0] - log_scale) + std::exp(log_alias[1] - log_scale);
  const double bulk = std::exp(log_bulk - log_scale);
  const double guard = 8.0 * kUnit * (10.0 + std::fabs(log_scale) + std::fabs(s0 * eps));
  const double low = sum - aliased - left - error, high = sum + left + error + bulk;
  if (!(high > 0.0)) return std::nullopt;
  return LogEnclosure{low > 0.0 ? log_scale + std::log(low) - guard : -kInf,
                      log_scale + std::log(high) + guard};
}

}  // namespace

std::optional<LogEnclosure> split_delta(const TotalLoss& loss, double eps, double work) {
  if (loss.steps.empty() || !(eps > 0.0)) return std::nullopt;
  double m = 0.0;
  double hits = 0.0;
  std::vector<RatioStep> all;
  for (const StepLoss& any : loss.steps) {
    if (const auto* sampled = std::get_if<SampledGaussian>(&any)) {
      all.emplace_back(*sampled);
      hits += sampled->k * sampled->q;
    } else if (const auto* group = std::get_if<GroupGaussian>(&any)) {
      all.emplace_back(*group);
      hits += group->k * group->g * group->q;
    } else {
      return std::nullopt;
    }
    if (all.back().direction == StepDirection::add) return std::nullopt;
    m = std::max(m, all.back().ratio.slope());
  }
  if (hits > kMostHits) return std::nullopt;  // they are not rare
  const double most = 3e4 / m;
  struct Choice {
    double theta, x;
  };
  constexpr Choice kChoices[] = {{.5, 5},  {.5, 8},  {.35, 5}, {.35, 8}, {.25, 5},
                                 {.25, 8}, {.15, 5}, {.15, 8}, {.08, 8}};
  // Every cut is judged once; the first that is good enough is taken.
  struct Judged {
    SplitLoss split;
    double s0, log_hits, log_bulk;
  };
  std::vector<Judged> judged;
  double budget = work;
  for (const double good : {1e-12, 1e-8, 1e-5, 1e-2}) {
    for (std::size_t i = 0; i < std::size(kChoices); ++i) {
      if (i == judged.size()) {
        SplitLoss split{all, loss.mu_squared, {}, &budget};
        for (const RatioStep& step : all) {
          const double at = place_of(step, kChoices[i].theta * eps);
          split.cuts.push_back({at, (place_of(step, eps) - at) / kChoices[i].x});
        }
        double s0 = 1.0, s_bulk = 1.0;
        const double log_hits =
            least([&](double s) { return split.hits(s).value - s * eps + log_kernel(s); }, 1e-3,
                  most, s0);
        const double log_bulk =
            std::isfinite(log_hits)
                ? least([&](double s) { return split.log_bulk(eps, s); }, 1e-3, most, s_bulk)
                : kInf;
        judged.push_back({std::move(split), s0, log_hits, log_bulk});
      }
      const Judged& cut = judged[i];
      if (!std::isfinite(cut.log_hits) || !(cut.log_bulk < cut.log_hits + std::log(good))) continue;
      budget = work;
      return along(cut.split, eps, cut.s0, cut.log_bulk, work);
    }
  }
  return std::nullopt;
}

}  // namespace sfumato
