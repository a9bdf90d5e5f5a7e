#include "sfumato/account/contour/rotated_step.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "sfumato/account/contour/rotated_sum.hpp"
#include "sfumato/account/contour/rounding_unit.hpp"
#include "sfumato/account/contour/tilted_distribution.hpp"
#include "sfumato/account/contour/trapezoidal_rule.hpp"
#include "sfumato/core/infinity.hpp"
#include "sfumato/math/special.hpp"

namespace sfumato {
namespace {

using trapezoidal::kLogRootTwoPi;
using trapezoidal::kTail;

constexpr double kShare =
    0.55;  // of the way from the real axis to the zeros that the last line is rotated
constexpr double kWidest = 0.5;       // radians: beyond it e^{-z^2/2} falls too slowly
constexpr double kOfTheStrip = 0.85;  // that the rule uses
constexpr double kRaised = 0.1;       // where the strip of the raised line begins
constexpr double kManySampled = 0.1;  // |s| q from which on that line is taken
constexpr double kHighestStrip = 5.0;
constexpr double kNats = 44.0;  // of what the rule may be off by
constexpr double kMostPoints = 4000.0;
constexpr double kLongest = 700.0;     // m t at the end of a line
constexpr double kTailMass = 1.1e-21;  // of a normal distribution beyond kTail
constexpr double kNeglected = 60.0;
// Beyond this odds of a sampled step the line of log_rest() goes up.
constexpr double kOdds = 3.0;
const double kAside = std::asin(1.0 / kOdds);

/// v = q e^{m u - m^2/2} and turn = m eta in ranges: of r = miss + v e^{i turn}.
struct RatioBox {
  double v_low, v_high, turn_low, turn_high;
};

double argument(double miss, double v, double turn) {
  return std::atan2(v * std::sin(turn), miss + v * std::cos(turn));
}

/// arg r on the box, at least; -inf where r may vanish. It grows with v for turns in [0, pi], and with the turn up to cos = -v/miss.
double least_argument(double miss, const RatioBox& box) {
  const double small = box.v_high < miss ? std::asin(box.v_high / miss) : kInf;
  if (box.turn_low >= 0.0) {
    if (box.turn_high <= kPi) {
      return std::min(argument(miss, box.v_low, box.turn_low),
                      argument(miss, box.v_low, box.turn_high));
    }
    return box.v_low > miss ? box.turn_low - std::asin(miss / box.v_low) : -small;
  }
  if (box.turn_high > kPi) return -small;
  const double turn = -box.turn_low;
  if (box.v_high < miss) {
    return turn <= std::acos(-box.v_high / miss) ? -argument(miss, box.v_high, turn) : -small;
  }
  return turn < kPi ? -argument(miss, box.v_high, turn) : -kInf;
}

/// log |r| on the box, at most: |r|^2 is convex in v.
double most_modulus(double miss, const RatioBox& box) {
  const double nearest = std::clamp(0.0, box.turn_low, box.turn_high);
  const bool is_past_half = box.turn_high > kPi || box.turn_low < -kPi;
  const double cosine = is_past_half ? 1.0 : std::cos(nearest);
  if (box.v_high > 1e100) return std::log(box.v_high) + 1e-90;
  const auto square = [&](double v) { return miss * miss + v * v + 2.0 * miss * v * cosine; };
  return 0.5 * std::log(std::max(square(box.v_low), square(box.v_high)));
}

double highest(const TransformArea& area) {
  return std::max({area.corners[0].imag(), area.corners[1].imag(), area.corners[2].imag()});
}

/// |log r| on the box, at most.
double most_log(double miss, double q, double up, const RatioBox& box) {
  const double change = box.v_high + q;
  if (change < 0.5) return -std::log1p(-change);
  const double turn = std::max(std::fabs(box.turn_low), std::fabs(box.turn_high));
  // |r| is at least |miss - v|, and at least miss sin(turn) or miss for turns in (0, pi).
  const double sine = turn < 0.5 * kPi ? 1.0 : std::sin(std::min(turn, kPi));
  double low = miss * sine;
  if (box.v_low > miss) low = std::max(low, box.v_low - miss);
  if (box.v_high < miss) low = std::max(low, miss - box.v_high);
  return std::max(std::fabs(up), std::fabs(std::log(low))) + turn + (turn > kPi ? 0.5 * kPi : 0.0);
}

}  // namespace

RotatedStep::RotatedStep(const SampledGaussian& step)
    : step_(step),
      miss_(1.0 - step.q),
      log_q_(std::log(step.q)),
      zero_((std::log(miss_) - log_q_) / step.m + 0.5 * step.m),
      grid_(*step.as_ratio()) {
  const double widest = std::min(kWidest, std::atan(kShare * kPi / (step.m * zero_)));
  const auto add = [&](double beta, double from, double to) {
    // As shares of the way to the nearest zero.
    const double strip =
        std::min(kPi / step.m * std::cos(beta) - zero_ * std::sin(beta), kHighestStrip);
    Line line;
    line.beta = beta;
    line.offset = 0.5 * (from + to) * strip;
    line.c = 0.5 * (to - from) * strip;
    lines_.push_back(std::move(line));
  };
  for (const double beta : {0.0, 0.5 * widest, widest}) add(beta, -kOfTheStrip, kOfTheStrip);
  add(widest, kRaised, kOfTheStrip);
}

double RotatedStep::unsampled_loss() const { return -std::log1p(-step_.q); }

double RotatedStep::log_rest(double x, double y, double psi) const {
  const double m = step_.m, height = 0.5 * kPi / m;
  if (!(y >= 1.13 * (1.0 + x)) || !(m * y > height + 1.0)) return kInf;
  const double cotangent = 1.0 / std::tan(psi);
  if (!(-m * m * y + kAside + (m * m * (x + 0.5) + unsampled_loss()) * cotangent < 0.0))
    return kInf;
  const double place = (std::log(kOdds * miss_) - log_q_) / m + 0.5 * m;
  const double density = std::exp(-0.5 * place * place - kLogRootTwoPi);
  const double sampled = -0.5 * m * m * y * y + kAside * y + 0.5 * m * m * x * (x + 1.0) +
                         (1.0 + x) * unsampled_loss();
  const double rest = 0.5 * height * height + std::log1p(2.0 * density / (m * y - height));
  return log_add_exp(rest, sampled) + 1e-12;
}

/// log of the largest |phi r^{1+s}| among sampled steps on a line, about: r is q e^{mz - m^2/2} there.
double RotatedStep::log_sampled(double beta, double p, double y) const {
  const double m = step_.m;
  const double tilt = std::max(m * (p * std::cos(beta) - y * std::sin(beta)), 0.0);
  return p * (log_q_ - 0.5 * m * m) + 0.5 * tilt * tilt / std::cos(2.0 * beta);
}

bool RotatedStep::choose_lines(const std::vector<TransformArea>& areas) {
  const double m = step_.m;
  line_of_.clear();
  for (const TransformArea& area : areas) {
    const Complex middle = (area.corners[0] + area.corners[1] + area.corners[2]) / 3.0;
    const double p = 1.0 + middle.real(), y = middle.imag();
    std::size_t best = 0;
    for (std::size_t i = 1; i + 1 < lines_.size(); ++i) {
      const double here = std::max(log_sampled(lines_[i].beta, p, y), 0.0);
      // What is larger than the sum on a line has to cancel there: the line is taken on which the sampled steps are least.
      if (here <= std::max(log_sampled(lines_[best].beta, p, y), 0.0)) best = i;
    }
    if (best + 2 == lines_.size() && std::abs(middle) * step_.q > kManySampled) ++best;
    line_of_.push_back(best);
    Line& line = lines_[best];
    const double spread = std::cos(2.0 * line.beta);
    for (const Complex& s : area.corners) {
      const double tilt =
          m * ((1.0 + s.real()) * std::cos(line.beta) - s.imag() * std::sin(line.beta));
      line.last = std::max(line.last, tilt / spread);
    }
  }
  for (Line& line : lines_) {
    const double spread = std::cos(2.0 * line.beta);
    const double highest = line.offset + line.c;
    const double sure = (std::log(kOdds * miss_) - log_q_) / m + 0.5 * m;
    line.last =
        std::max(line.last + highest * std::tan(2.0 * line.beta) + kTail / std::sqrt(spread),
                 (sure + highest * std::sin(line.beta)) / std::cos(line.beta));
  }
  for (std::size_t i = 0; i < lines_.size(); ++i) {
    if (std::find(line_of_.begin(), line_of_.end(), i) == line_of_.end()) continue;
    Line& line = lines_[i];
    if (!(line.last * step_.m < kLongest)) return false;
    line.own = cells_of(line.beta, line.offset, line.last);
    line.above = cells_of(line.beta, line.offset + line.c, line.last);
    line.below = cells_of(line.beta, line.offset - line.c, line.last);
  }
  return true;
}

RotatedStep::Cells RotatedStep::cells_of(double beta, double c, double last) const {
  const double m = step_.m, spread = std::cos(2.0 * beta), shear = std::sin(2.0 * beta);
  Cells cells{beta, c, {}, {}, {}, {}};
  cells.left = c * shear / spread - kTail / std::sqrt(spread);
  cells.last = last;
  const double width = std::min(0.2, 0.35 / m);
  const auto count = static_cast<int>(std::ceil((last - cells.left) / width));
  const double peak = c * shear / spread;
  for (int i = 0; i < count; ++i) {
    const double t = cells.left + i * width, end = std::min(t + width, last);
    const double at = std::clamp(peak, t, end);
    cells.log_weight.push_back(std::log(width) - 0.5 * spread * (at * at - c * c) + at * c * shear -
                               kLogRootTwoPi);
    const auto v = [&](double place) {
      const double u = place * std::cos(beta) - c * std::sin(beta);
      return std::exp(std::min(log_q_ + m * u - 0.5 * m * m, 700.0));
    };
    const auto turn = [&](double place) {
      return m * (place * std::sin(beta) + c * std::cos(beta));
    };
    const RatioBox box{v(t), v(end), turn(t), turn(end)};
    cells.up.push_back(most_modulus(miss_, box) + 1e-14);
    cells.turn.push_back(least_argument(miss_, box) - 1e-14);
    cells.size.push_back(most_log(miss_, step_.q, cells.up.back(), box) * (1.0 + 1e-12));
  }
  return cells;
}

/// log of |phi r^{1+s}| at the last point, at most, and how fast it falls from there on.
double RotatedStep::log_tail(const Cells& cells, const TransformArea& area, double* decay) const {
  const double m = step_.m, spread = std::cos(2.0 * cells.beta), shear = std::sin(2.0 * cells.beta);
  const double t = cells.last, c = cells.c;
  const double u = t * std::cos(cells.beta) - c * std::sin(cells.beta);
  const double log_v = log_q_ + m * u - 0.5 * m * m;
  const double over = miss_ * std::exp(-log_v);
  if (!(over < 0.5)) return kInf;
  const double turn = m * (t * std::sin(cells.beta) + c * std::cos(cells.beta)) - std::asin(over);
  *decay = kInf;
  double exponent = -kInf;
  for (const Complex& s : area.corners) {
    const double p = 1.0 + s.real(), y = s.imag();
    *decay = std::min(*decay, spread * t - c * shear - p * m * std::cos(cells.beta) +
                                  y * m * std::sin(cells.beta));
    exponent = std::max(exponent, p * (log_v + std::log1p(over)) - y * turn);
  }
  if (!(*decay >= 1.0)) return kInf;
  return -0.5 * spread * (t * t - c * c) + t * c * shear - kLogRootTwoPi +
         exponent * (1.0 + 1e-14) + 1e-9;
}

/// The integral of |phi r^{1+s}| to the left of the cells, at most: there |r| <= 1 and arg r >= -2 v.
double RotatedStep::left_of(const Cells& cells, const TransformArea& area) const {
  const double spread = std::cos(2.0 * cells.beta);
  const double u = cells.left * std::cos(cells.beta) - cells.c * std::sin(cells.beta);
  const double v = std::exp(log_q_ + step_.m * u - 0.5 * step_.m * step_.m);
  return kTailMass / std::sqrt(spread) *
         std::exp(0.5 * cells.c * cells.c / spread + 2.2 * v * highest(area));
}

RotatedStep::Mass RotatedStep::mass_on(const Cells& cells, const TransformArea& area) const {
  const auto& [a, b, c] = area.corners;
  double mass = 0.0, slope = 0.0, from_one = 0.0, largest = 0.0;
  for (std::size_t i = 0; i < cells.up.size(); ++i) {
    const double up = cells.up[i], turn = cells.turn[i];
    // It is linear in s.
    const double exponent =
        std::max({(1.0 + a.real()) * up - a.imag() * turn, (1.0 + b.real()) * up - b.imag() * turn,
                  (1.0 + c.real()) * up - c.imag() * turn});
    largest = std::max(largest, exponent);
    const double log = cells.log_weight[i] + std::max(exponent, 0.0);
    if (log < -kNeglected) {
      mass += 1e-26;
      slope += 1e-26 * cells.size[i];
      from_one += 1e-26 * cells.size[i];
      continue;
    }
    if (!(log < 600.0)) return {kInf, kInf, kInf, kInf};
    const double weight = std::exp(cells.log_weight[i]),
                 here = std::exp(cells.log_weight[i] + exponent);
    mass += here;
    slope += cells.size[i] * here;
    from_one += cells.size[i] * std::max(weight, here);
  }
  const double left = left_of(cells, area);
  double decay = 0.0;
  const double right = std::exp(log_tail(cells, area, &decay)) / std::max(decay, 1.0);
  const double last = cells.size.back() + 2.0 * step_.m;
  const double spread = std::cos(2.0 * cells.beta);
  const double beyond = kTailMass / std::sqrt(spread) * std::exp(0.5 * cells.c * cells.c / spread);
  mass += left + right;
  slope += 3.0 * step_.q * left + last * right;
  from_one += 3.0 * step_.q * left + last * (right + beyond);
  return {std::log(mass * (1.0 + 1e-9)), slope * (1.0 + 1e-9), from_one * (1.0 + 1e-9), largest};
}

double RotatedStep::log_moment(double x) {
  if (const auto found = grid_.at(x)) return found->value + found->error;
  // Jensen's inequality: r^{1+x} <= (1 - q) + q e^{(1+x) a}.
  const double exponent = 0.5 * step_.m * step_.m * x * (x + 1.0);
  return exponent > 600.0 ? exponent : std::log1p(step_.q * std::expm1(exponent)) + 1e-14;
}

RotatedStep::Bound RotatedStep::bound(const TransformArea& area, std::size_t index) {
  const Mass mass = mass_on(lines_[line_of_[index]].own, area);
  // |M| <= M(x), which is convex in x; and |r^{1+s} - 1| <= |1 + s| |log r| max(1, |r^{1+s}|).
  double real = -kInf, farthest = 0.0;
  for (const Complex& s : area.corners) {
    real = std::max(real, log_moment(s.real()));
    farthest = std::max(farthest, std::abs(1.0 + s));
  }
  return {std::min({real, std::log1p(farthest * mass.from_one), mass.log_mass}), mass.slope};
}

void RotatedStep::add_points(Line* line) const {
  const double m = step_.m, h = line->spacing;
  const Complex direction(std::cos(line->beta), std::sin(line->beta));
  for (double j = std::ceil(line->own.left / h); j <= std::floor(line->own.last / h); ++j) {
    const Complex z = Complex(j * h, line->offset) * direction;
    const Complex square = -0.5 * z * z;
    const double size = h * std::exp(square.real() - kLogRootTwoPi);
    const Complex weight = direction * std::polar(size, square.imag());
    const double a = m * z.real() - 0.5 * m * m, turn = m * z.imag();
    const double v = std::exp(log_q_ + a);
    Complex log;
    // M(s) - 1 is wanted to all digits: where a step is hardly sampled, log r by what r differs from 1 by; where it is, by its own exponent,
    // which does not overflow.
    if (v > miss_) {
      log = Complex(log_q_ + a, turn) + complex_log1p(std::polar(miss_ / v, -turn));
    } else {
      const double half = std::sin(0.5 * turn), grown = step_.q * std::exp(a);
      log = complex_log1p(
          {step_.q * (std::expm1(a) * std::cos(turn) - 2.0 * half * half), grown * std::sin(turn)});
    }
    const double share = v * std::exp(-log.real());
    line->weight_re.push_back(weight.real());
    line->weight_im.push_back(weight.imag());
    line->weight.push_back(size);
    line->log_re.push_back(log.real());
    line->log_im.push_back(log.imag());
    line->weight_error.push_back(4.0 * (16.0 + 2.0 * std::norm(z)));
    line->log_error.push_back(
        4.0 * (6.0 * std::abs(log) + share * (3.0 * m * std::abs(z) + m * m + 4.0)));
  }
}

bool RotatedStep::place(const std::vector<TransformArea>& areas,
                        const std::vector<std::size_t>& used) {
  std::vector<double> log_strip(areas.size(), -kInf);
  std::vector<double> needed(lines_.size(), -kInf);
  for (const std::size_t i : used) {
    const Line& line = lines_[line_of_[i]];
    const double above = mass_on(line.above, areas[i]).log_mass;
    const double below = mass_on(line.below, areas[i]).log_mass;
    const Mass own = mass_on(line.own, areas[i]);
    const double spread = std::cos(2.0 * line.beta);
    const double farther = std::fabs(line.offset) + line.c;
    const double ones =
        std::numbers::ln2 + 0.5 * farther * farther / spread - 0.5 * std::log(spread);
    log_strip[i] = log_add_exp(log_add_exp(above, below), ones);
    // What rotated_sum() can do; |log r| is below 3 + m t on the line.
    const double farthest = highest(areas[i]) * (3.0 + step_.m * (line.last + 1.0));
    if (!(std::isfinite(log_strip[i]) && own.exponent < 690.0 && farthest < 1e12)) return false;
    needed[line_of_[i]] = std::max(needed[line_of_[i]], log_strip[i] - std::max(own.log_mass, 0.0));
  }
  for (std::size_t i = 0; i < lines_.size(); ++i) {
    if (needed[i] == -kInf) continue;
    Line& line = lines_[i];
    // The error of the rule on all k steps, relative to the mass on the line, becomes e^-44.
    line.spacing = 2.0 * kPi * line.c / (needed[i] + kNats + std::log(step_.k));
    if (!((line.own.last - line.own.left) / line.spacing < kMostPoints)) return false;
    add_points(&line);
  }
  rule_error_.assign(areas.size(), kInf);
  for (const std::size_t i : used) {
    const Line& line = lines_[line_of_[i]];
    const double exponent = 2.0 * kPi * line.c / line.spacing;
    double decay = 0.0;
    const double right = std::exp(log_tail(line.own, areas[i], &decay));
    const double spread = std::cos(2.0 * line.beta);
    // Beyond an end a sum has its first term, at most ten times the integral, more than that; and 1 is left out too.
    const double more = 1.0 + 10.0 * line.spacing;
    rule_error_[i] = std::exp(log_strip[i] - exponent) * 1.001 +
                     right * (line.spacing + 1.0 / std::max(decay, 1.0)) +
                     more * left_of(line.own, areas[i]) +
                     2.0 * more * kTailMass / std::sqrt(spread) *
                         std::exp(0.5 * line.offset * line.offset / spread);
  }
  return true;
}

RotatedStep::Value RotatedStep::at(Complex s, std::size_t index) const {
  const Line& line = lines_[line_of_[index]];
  const RotatedSum sum = rotated_sum(
      {line.weight_re.data(), line.weight_im.data(), line.weight.data(), line.log_re.data(),
       line.log_im.data(), line.weight_error.data(), line.log_error.data(), line.weight.size()},
      1.0 + s.real(), s.imag());
  const auto count = static_cast<double>(line.weight.size());
  const double rounding = kUnit * (sum.weight_error + std::abs(1.0 + s) * sum.log_error +
                                   (0.125 * count + 16.0) * sum.size);
  return {{sum.re, sum.im}, rounding + rule_error_[index]};
}

}  // namespace sfumato
