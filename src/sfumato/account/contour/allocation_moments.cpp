#include "sfumato/account/contour/allocation_moments.hpp"

#include <algorithm>
#include <boost/math/special_functions/digamma.hpp>
#include <boost/math/special_functions/trigamma.hpp>
#include <cmath>
#include <optional>

#include "sfumato/account/contour/compensated_sum.hpp"
#include "sfumato/core/infinity.hpp"
#include "sfumato/math/complex_gamma.hpp"
#include "sfumato/math/special.hpp"

namespace sfumato {
namespace {

constexpr double kNegligible = -50.0;    // log of what is left out, relative
constexpr double kMostAmplified = 2.0;   // log: digits that a ray may lose
constexpr double kLargestPower = 448.0;  // what n and its series allow
constexpr double kLeastPower = 2000.0;   // below 0
constexpr double kFarthestTilt = 27.4;   // 37.5 less the reach of a normal density
constexpr double kMostNu = 60.0;
constexpr double kTurns = 12.0;
constexpr double kGoodRule = -36.0;  // log of the error of a rule
constexpr double kMostNodes = 4e5;   // of one range: beyond it nothing is tried

/// log M(p) is at least that: p -> x^p is convex or concave (Jensen), and one batch alone.
double least_log_moment(Allocation of, double p) {
  const double square = of.m * of.m, one = 0.5 * square * p * (p - 1.0);
  if (p > 0.0 && p < 1.0) return one;
  return p > 1.0 ? std::max(0.0, one + (1.0 - p) * std::log(of.t)) : 0.0;
}

/// At least log E R^-q (Spec §28.6): R is more than the geometric mean, and x^-q is convex.
double log_inverse_moment(Allocation of, double q) {
  const double square = of.m * of.m;
  return square * std::min(0.5 * q * (q + 1.0), 0.5 * q + 0.5 * q * q / of.t);
}

/// At least log E R^i for every i <= n.
std::vector<double> log_power_moments(Allocation of, int n) {
  const double square = of.m * of.m, log_t = std::log(of.t);
  // i! t^-i [w^i] ( sum_k e^{m^2 k (k-1) / 2} w^k / k! )^t, as logarithms.
  std::vector<double> c(static_cast<std::size_t>(n) + 1), power(c.size(), 0.0), moments = power;
  for (int i = 1; i <= n; ++i) {
    const auto at = static_cast<std::size_t>(i);
    const double one = 0.5 * square * i * (i - 1.0);  // of one batch alone, which is more
    c[at] = one - std::lgamma(i + 1.0);
    moments[at] = one;
    if (of.t < i) continue;
    double log = -kInf;
    for (int k = 1; k <= i; ++k) {
      log = log_add_exp(log, std::log((k * (of.t + 1.0) - i) / i) + c[static_cast<std::size_t>(k)] +
                                 power[static_cast<std::size_t>(i - k)]);
    }
    power[at] = log;
    moments[at] = std::min(one, log + std::lgamma(i + 1.0) - i * log_t + 1e-9 * (1.0 + one));
  }
  return moments;
}

/// t = 1: the normal mechanism.
StepCumulant normal_moment(Allocation of, double p) {
  const double square = of.m * of.m, value = 0.5 * square * p * (p - 1.0);
  return {value, square * (p - 0.5), square, 8.0 * kUnit * std::fabs(value)};
}

/// Angles of rays, in turns: towards pi/2 they are as much closer as lines of integration may be moved less.
double angle_of(int turn) { return 0.5 * kPi * -std::expm1(-turn / kTurns); }
double turn_of(double angle) { return -kTurns * std::log1p(-angle / (0.5 * kPi)); }

/// The step of a rule in log r on a ray for nodes at y in [first, last], and its bound.
struct LogRule {
  double alpha = 0.0, step = 0.0;
};

/// log of the sum of both amplifications of E_u.
double log_both_sides(const Amplification& log_a, double angle, double alpha) {
  return log_add_exp(log_a(angle + alpha, angle + alpha),
                     log_a(angle - alpha, std::fabs(angle - alpha)));
}

LogRule log_rule(const Amplification& first, const Amplification& last, double angle) {
  LogRule best;
  const double room = 0.5 * kPi - angle;
  for (int i = 1; i < 48; ++i) {
    const double alpha = room * i / 48.0;
    const double most =
        std::max(log_both_sides(first, angle, alpha), log_both_sides(last, angle, alpha));
    const double step = 2.0 * kPi * alpha / (39.0 + std::max(0.0, most));
    if (step > best.step) best = {alpha, step};
  }
  return best;
}

/// E_u of Spec §28.6 at y, as a logarithm.
double log_of_rule_error(const Amplification& log_a, double angle, const LogRule& rule) {
  const double turns = 2.0 * kPi * rule.alpha / rule.step;
  return log_both_sides(log_a, angle, rule.alpha) - turns - std::log1p(-std::exp(-turns));
}

/// The sum of the positive majorant over its integral, at most.
double sum_over_integral(double nu, double step) {
  double least = kInf;
  for (int i = 1; i < 32; ++i) {
    const double alpha = 0.5 * kPi * i / 32.0;
    least = std::min(
        least, std::exp(-nu * std::log(std::cos(alpha))) / std::expm1(2.0 * kPi * alpha / step));
  }
  return 1.0 + 2.0 * least;
}

}  // namespace

/// M(p) with the parts of the u axis that its sum needs.
struct AllocationMoments::Density {
  StepCumulant moment{kInf, 0.0, 1.0, kInf};  ///< of log M(p)
  double low = 0.0, high = 0.0;               ///< u between which the density is not negligible
  double log_tails = kInf;                    ///< of what is beyond them
};

/// The real ray with one n: b_n(e^u) on a grid of u, computed where it is asked for.
class AllocationMoments::RealRay {
 public:
  /// For powers in [least_p, largest_p].
  RealRay(Allocation of, int n, double least_p, double largest_p)
      : of_(of),
        n_(n),
        ray_({of, n, 0.0, n - least_p, least_p, largest_p}),
        rule_(log_rule({n - least_p, 0.0}, {n - least_p, 0.0}, 0.0)),
        log_powers_(log_power_moments(of, n)) {}

  [[nodiscard]] Density sum_at(double p) {
    const double nu = n_ - p, log_gamma_nu = std::lgamma(nu);
    const double least = least_log_moment(of_, p);
    Density sum;
    // The far ends, proven (Spec §28.6), and between them steps that are coarse beside the density's own.
    const LowEnd low_end = low_end_of(p, log_gamma_nu + least);
    double q_high = 0.0, highest = kInf;
    for (double q = std::max(1e-3, -p + 1e-3); q < 1e5; q = std::max(1.15 * q, q + 1e-2)) {
      const double end =
          (std::lgamma(n_ + q) + log_inverse_moment(of_, q) - log_gamma_nu - least - kNegligible) /
          (p + q);
      if (p + q > 0.0 && end < highest) highest = end, q_high = q;
    }
    const double h = rule_.step;
    const double coarse = std::max(1.0, std::floor(std::min(0.5, 4.0 / nu) / h));
    const auto stride = static_cast<long>(coarse);
    const double first_index = std::floor(low_end.u / h), last_index = std::ceil(highest / h);
    if (!(last_index - first_index < kMostNodes)) return sum;
    const auto first = static_cast<long>(first_index) / stride - 1;
    const auto last = static_cast<long>(last_index) / stride + 1;
    double most = -kInf;
    for (long i = first; i <= last; ++i) most = std::max(most, log_term(i * stride, p));
    if (!std::isfinite(most)) return sum;
    long left = last, right = first;
    for (long i = first; i <= last; ++i) {
      if (log_term(i * stride, p) > most + kNegligible) {
        left = std::min(left, i);
        right = std::max(right, i);
      }
    }
    const long low = (left - 1) * stride, high = (right + 1) * stride;
    CompensatedSum mass, mean, rounding;
    const double middle = static_cast<double>(low + high) / 2.0 * h;
    for (long j = low - 1; j <= high + 1; ++j) {
      const double u = static_cast<double>(j) * h, a = std::exp(log_term(j, p) - most);
      const AllocationRay::Node& b = node(j);
      mass.add(a);
      mean.add(a * (u - middle));
      rounding.add(std::exp(b.log_majorant - p * u - most) *
                   (b.roundings + 4.0 * std::fabs(p * u)));
    }
    const double total = mass.value(), mean_u = mean.value() / total;
    CompensatedSum square;
    for (long j = low - 1; j <= high + 1; ++j) {
      const double u = static_cast<double>(j) * h - middle - mean_u;
      square.add(std::exp(log_term(j, p) - most) * u * u);
    }
    const double log_factorial = std::lgamma(n_ + 1.0);
    sum.moment.value = most + std::log(h * total) + log_factorial - log_gamma_nu;
    sum.moment.mean = boost::math::digamma(nu) - (mean_u + middle);
    sum.moment.variance =
        std::max(square.value() / total - boost::math::trigamma(nu), 1e-3 * variance_scale());
    sum.low = static_cast<double>(low) * h;
    sum.high = static_cast<double>(high) * h;
    // The tails, of a density.
    const double to_density = log_factorial - log_gamma_nu - sum.moment.value;
    const double st = coarse * h;
    double tails = -kInf;
    for (long i = first; i <= last; ++i) {
      if (i * stride >= low && i * stride < high) continue;
      tails = log_add_exp(tails, log_term(i * stride, p) + to_density + std::log(st));
    }
    tails = log_add_exp(tails, ray_error(nu)) + nu * st;
    const double far_low = static_cast<double>(first * stride) * h;
    const double far_high = static_cast<double>(last * stride) * h;
    tails = log_add_exp(
        tails, low_end.slope * far_low + low_end.log_factor - log_gamma_nu - sum.moment.value);
    tails =
        log_add_exp(tails, -(p + q_high) * far_high + std::lgamma(n_ + q_high) +
                               log_inverse_moment(of_, q_high) - log_gamma_nu - sum.moment.value);
    sum.log_tails = tails;
    const double sizes = log_factorial + std::fabs(log_gamma_nu) + std::fabs(sum.moment.value);
    const double floating = kUnit * (rounding.value() / total + 4.0 * sizes);
    sum.moment.error = 1.01 * (std::exp(ray_error(nu)) * sum_over_integral(nu, h) +
                               std::exp(log_of_rule_error({nu, 0.0}, 0.0, rule_)) +
                               2.0 * std::exp(nu * h + tails) + floating);
    return sum;
  }

 private:
  /// E_x of Spec §28.6 at y = 0, as a logarithm.
  [[nodiscard]] double ray_error(double nu) const {
    return Amplification(nu, 0.0)(0.0, ray_.widest_angle()) + ray_.log_rule_error();
  }
  /// Below u the density is at most e^{slope u + log_factor} over Gamma(nu) M(p): with q > p,
  /// r^n E R^n e^{-rR} <= r^q ((n - q) / e)^{n - q} E R^q.
  struct LowEnd {
    double u = -kInf, slope = 0.0, log_factor = 0.0;
  };
  /// The highest at which that is negligible, with its integral.
  [[nodiscard]] LowEnd low_end_of(double p, double log_unit) const {
    LowEnd best;
    for (int q = std::max(0, static_cast<int>(std::floor(p)) + 1); q <= n_; ++q) {
      const double left = n_ - q, slope = q - p;
      const double log_factor = log_powers_[static_cast<std::size_t>(q)] +
                                (left > 0.0 ? left * (std::log(left) - 1.0) : 0.0) -
                                std::log(slope);
      const double u = (kNegligible + log_unit - log_factor) / slope;
      if (slope > 0.0 && u > best.u) best = {u, slope, log_factor};
    }
    return best;
  }
  /// What the logarithm of R varies by in any case.
  [[nodiscard]] double variance_scale() const { return of_.m * of_.m / of_.t; }
  [[nodiscard]] double log_term(long j, double p) {
    return node(j).log_modulus - p * static_cast<double>(j) * rule_.step;
  }
  [[nodiscard]] const AllocationRay::Node& node(long j) {
    const auto found = nodes_.find(j);
    if (found != nodes_.end()) return found->second;
    return nodes_.emplace(j, ray_.at(static_cast<double>(j) * rule_.step)).first->second;
  }

  Allocation of_;
  int n_;
  AllocationRay ray_;
  LogRule rule_;
  std::vector<double> log_powers_;  ///< of E R^i
  std::map<long, AllocationRay::Node> nodes_;
};

/// A ray at an angle, with the nodes that were asked for.
struct AllocationMoments::TurnedRay {
  AllocationRay ray;
  double angle;
  LogRule rule;
  std::map<long, AllocationRay::Node> nodes = {};

  [[nodiscard]] const AllocationRay::Node& node(long j) {
    const auto found = nodes.find(j);
    if (found != nodes.end()) return found->second;
    return nodes.emplace(j, ray.at(static_cast<double>(j) * rule.step)).first->second;
  }
};

/// Rays with one n, for lines at powers from least_p to largest_p.
struct AllocationMoments::Rays {
  int n;
  double least_p, largest_p;
  RealRay real;
  std::map<int, TurnedRay> turned = {};
};

AllocationMoments::RealRay& AllocationMoments::ray_for(double p) {
  // Powers are served in classes: n - p stays between 4 and a few times that.
  int n = 0;
  double least = 0.0, largest = 0.0;
  if (p < -4.0) {
    largest = -4.0;
    while (p < 2.0 * largest) largest *= 2.0;
    least = 2.0 * largest;
  } else {
    double from = -4.0;
    for (n = 8; n - 4 < p; n += std::max(8, n / 4)) from = n - 4.0;
    least = from;
    largest = n - 4.0;
  }
  const std::pair<int, int> key(n, static_cast<int>(-least));
  auto found = rays_.find(key);
  if (found == rays_.end()) {
    found = rays_.emplace(key, std::make_unique<RealRay>(of_, n, least, largest)).first;
  }
  return *found->second;
}

AllocationMoments::AllocationMoments(Allocation of, StepDirection direction)
    : of_(of), is_removal_(direction == StepDirection::remove) {}
AllocationMoments::AllocationMoments(AllocationMoments&&) noexcept = default;
AllocationMoments& AllocationMoments::operator=(AllocationMoments&&) noexcept = default;
AllocationMoments::~AllocationMoments() = default;

double AllocationMoments::power_at(double s) const { return is_removal_ ? 1.0 + s : -s; }

double AllocationMoments::highest_abscissa() const {
  if (!is_removal_) return kLeastPower;
  // From p = 2 log(t) / m^2 on one batch alone makes M(p), and no saddle is far beyond. That batch stands around x = m p, and weights e^{-x^2/2} are normal
  // numbers up to 37.5: beyond kFarthestTilt mass would be lost, and a bound with it. Deltas below 1e-160 are the ones that are less narrow.
  return std::min({kLargestPower - 1.0,
                   4.0 * std::log(of_.t) / (of_.m * of_.m) + 40.0 / of_.m + 8.0,
                   kFarthestTilt / of_.m - 1.0});
}

StepCumulant AllocationMoments::at(double s) {
  const double p = power_at(s);
  if (!(s <= highest_abscissa())) return {kInf, kInf, 1.0, kInf};
  StepCumulant moment{};
  if (of_.t == 1.0) {
    moment = normal_moment(of_, p);
  } else {
    moment = ray_for(p).sum_at(p).moment;
    if (p == 0.0 || p == 1.0) moment.value = moment.error = 0.0;
  }
  if (!is_removal_) moment.mean = -moment.mean;
  if (s == 0.0 && of_.t > 1.0) {
    // The mean is asked for as a bound: K is convex and 0 here.
    constexpr double kAside = 0.05;
    const StepCumulant aside = at(kAside);
    moment.error = std::max(0.0, (aside.value + aside.error) / kAside - moment.mean);
  }
  return moment;
}

AllocationMoments::Rays& AllocationMoments::rays_for(double p, double reach) {
  // n - p is about a quarter of how far the line goes, in classes: lines near each other share their rays.
  double nu = 4.0;
  while (nu < kMostNu && nu < 0.25 * reach) nu *= 2.0;
  nu = std::min(nu, kMostNu);
  constexpr double kClass = 8.0;
  int n = 0;
  double least = 0.0, largest = 0.0;
  if (p + nu <= 0.0) {
    largest = -nu;
    while (p < 2.0 * largest) largest *= 2.0;
    least = 2.0 * largest;
  } else {
    n = static_cast<int>(kClass * std::ceil((p + nu) / kClass));
    largest = n - nu;
    least = largest - kClass;
  }
  const std::pair<int, int> key(n, static_cast<int>(-least));
  auto found = lines_.find(key);
  if (found == lines_.end()) {
    found = lines_
                .emplace(key, std::make_unique<Rays>(
                                  Rays{n, least, largest, RealRay(of_, n, least, largest)}))
                .first;
  }
  return *found->second;
}

AllocationMoments::Line AllocationMoments::line(double s0, double step, std::size_t count) {
  Line line = line_of_powers(power_at(s0), step, count);
  if (is_removal_) return line;
  // M(-s0 - iy) is the conjugate of M(-s0 + iy).
  line.at.mean = -line.at.mean;
  for (Complex& ratio : line.ratio) ratio = std::conj(ratio);
  return line;
}

/// t = 1: the normal mechanism.
AllocationMoments::Line AllocationMoments::normal_line(double p, double step,
                                                       std::size_t count) const {
  Line line{normal_moment(of_, p), {}, {}};
  const double square = of_.m * of_.m;
  for (std::size_t i = 0; i < count; ++i) {
    const double y = step * static_cast<double>(i);
    const double size = square * (0.5 * y * y + (std::fabs(p) + 0.5) * y);
    line.ratio.push_back(std::polar(std::exp(-0.5 * square * y * y), square * (p - 0.5) * y));
    line.error.push_back(line.at.error + 8.0 * kUnit * (1.0 + size));
  }
  return line;
}

AllocationMoments::Line AllocationMoments::line_of_powers(double p, double step,
                                                          std::size_t count) {
  if (of_.t == 1.0) return normal_line(p, step, count);
  Rays& rays = rays_for(p, step * static_cast<double>(count - 1));
  const double nu = rays.n - p;
  const Density sum = rays.real.sum_at(p);
  Line line{sum.moment, std::vector<Complex>(count, Complex(1.0)),
            std::vector<double>(count, kInf)};
  if (!std::isfinite(sum.moment.value) || !std::isfinite(sum.moment.error)) return line;
  if (p == 0.0 || p == 1.0) line.at.value = 0.0;
  line.error[0] = line.at.error;
  std::vector<Amplification> log_a;
  for (std::size_t i = 0; i < count; ++i) log_a.emplace_back(nu, step * static_cast<double>(i));
  for (std::size_t next = 1; next < count;) {
    // The ray that serves the next node and as many as possible after it: the largest angle that loses few digits.
    int turn = 0;
    if (log_a[count - 1](0.0, 0.0) > kMostAmplified) {
      const double best = std::atan(step * static_cast<double>(next) / nu);
      turn = static_cast<int>(std::ceil(turn_of(best)));
      while (log_a[next](angle_of(turn + 1), angle_of(turn + 1)) <= kMostAmplified) ++turn;
    }
    const double angle = angle_of(turn);
    std::size_t end = next + 1;
    while (end < count && log_a[end](angle, angle) <= kMostAmplified) ++end;
    add_ray(p, sum, step, next, end, log_a, turned_ray(rays, turn, log_a[next], log_a[end - 1]),
            &line);
    next = end;
  }
  return line;
}

AllocationMoments::TurnedRay& AllocationMoments::turned_ray(Rays& rays, int turn,
                                                            const Amplification& first,
                                                            const Amplification& last) const {
  const double angle = angle_of(turn);
  const auto found = rays.turned.find(turn);
  if (found != rays.turned.end()) {
    const LogRule& rule = found->second.rule;
    const double error =
        std::max(log_of_rule_error(first, angle, rule), log_of_rule_error(last, angle, rule));
    if (error < kGoodRule) return found->second;
    rays.turned.erase(found);  // its step is too long for these nodes
  }
  const AllocationRay::Shape shape{of_,          rays.n,        angle, rays.n - rays.least_p,
                                   rays.least_p, rays.largest_p};
  return rays.turned
      .emplace(turn, TurnedRay{AllocationRay(shape), angle, log_rule(first, last, angle)})
      .first->second;
}

/// The nodes of the line from `next` to `end` by one ray, with their errors (Spec §28.6).
void AllocationMoments::add_ray(double p, const Density& sum, double step, std::size_t next,
                                std::size_t end, const std::vector<Amplification>& log_a,
                                TurnedRay& ray, Line* line) {
  const double angle = ray.angle, h = ray.rule.step, shift = -std::log(std::cos(angle));
  const int n = ray.ray.order();
  const double nu = n - p, log_factorial = std::lgamma(n + 1.0);
  const auto first = static_cast<long>(std::floor((sum.low + shift) / h)) - 1;
  const auto last = static_cast<long>(std::ceil((sum.high + shift) / h)) + 1;
  if (!(static_cast<double>(last - first) < kMostNodes)) return;
  std::vector<double> places;
  double most = -kInf;
  for (long j = first; j <= last; ++j) {
    places.push_back(static_cast<double>(j) * h);
    most = std::max(most, ray.node(j).log_majorant - p * places.back());
  }
  std::vector<Complex> weights;
  CompensatedSum rounding, per_y, size;
  for (std::size_t j = 0; j < places.size(); ++j) {
    const AllocationRay::Node& node = ray.node(first + static_cast<long>(j));
    const double u = places[j], majorant = std::exp(node.log_majorant - p * u - most);
    weights.push_back(std::polar(std::exp(node.log_modulus - p * u - most), node.argument));
    size.add(majorant);
    rounding.add(majorant * (node.roundings + 4.0 * std::fabs(p * u)));
    per_y.add(majorant * 4.0 * std::fabs(u));
  }
  const double log_sum_factor = std::log(sum_over_integral(nu, h));
  for (std::size_t i = next; i < end; ++i) {
    const double y = step * static_cast<double>(i);
    // n! / Gamma(n - p - iy) e^{i angle (p + iy)} h e^most, over M(p); Gamma of the conjugate is the conjugate.
    const Complex gamma = log_gamma({nu, y});
    const double log_unit =
        log_factorial - gamma.real() - angle * y + std::log(h) + most - sum.moment.value;
    CompensatedSum re, im;
    for (std::size_t j = 0; j < weights.size(); ++j) {
      const double c = std::cos(y * places[j]), s = -std::sin(y * places[j]);
      re.add(weights[j].real() * c - weights[j].imag() * s);
      im.add(weights[j].real() * s + weights[j].imag() * c);
    }
    line->ratio[i] =
        std::polar(std::exp(log_unit), gamma.imag() + angle * p) * Complex(re.value(), im.value());
    const double sizes = log_factorial + std::fabs(gamma.real()) + std::fabs(gamma.imag()) +
                         std::fabs(most) + std::fabs(sum.moment.value) + angle * (y + std::fabs(p));
    const double floating =
        kUnit * std::exp(log_unit) *
        (rounding.value() + y * per_y.value() + (4.0 * sizes + 20.0) * size.value());
    const double by_log_r = std::exp(log_of_rule_error(log_a[i], angle, ray.rule));
    const double by_x = std::exp(log_a[i](angle, ray.ray.widest_angle()) +
                                 ray.ray.log_rule_error() + log_sum_factor);
    const double tails = 2.0 * std::exp(nu * h + log_a[i](angle, angle) + sum.log_tails);
    line->error[i] = 1.01 * (by_log_r + by_x + tails + floating) + line->at.error;
  }
}

}  // namespace sfumato
