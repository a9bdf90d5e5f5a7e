#include "sfumato/account/contour/allocation_ray.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "sfumato/account/contour/compensated_sum.hpp"
#include "sfumato/account/contour/tilted_distribution.hpp"
#include "sfumato/core/infinity.hpp"
#include "sfumato/core/vector_clones.hpp"
#include "sfumato/math/complex_gamma.hpp"
#include "sfumato/math/special.hpp"

namespace sfumato {
namespace {

constexpr std::size_t kLanes = 8;
constexpr std::size_t kChunk = 8;  // blocks that are added before the sum is compensated
using Eight = double __attribute__((vector_size(kLanes * sizeof(double))));

constexpr double kFarthest = 708.0;  // e^-x is a normal number

/// Sums over blocks of eight points, for every k <= n, of w zeta^k e^-zeta / k! and of its modulus; `sums` has room for 3 (n + 1) Eights.
/// `term` and `modulus` begin with w e^-zeta.
SFUMATO_VECTOR_CLONES void add_powers(std::size_t blocks, int n, const double* inverse,
                                      const double* zeta_re, const double* zeta_im,
                                      const double* zeta_size, const double* term_re,
                                      const double* term_im, const double* term_size,
                                      double* sums) {
  for (std::size_t b = 0; b < blocks; ++b) {
    Eight zr, zi, zs, tr, ti, ts;
    std::memcpy(&zr, zeta_re + b * kLanes, sizeof zr);
    std::memcpy(&zi, zeta_im + b * kLanes, sizeof zi);
    std::memcpy(&zs, zeta_size + b * kLanes, sizeof zs);
    std::memcpy(&tr, term_re + b * kLanes, sizeof tr);
    std::memcpy(&ti, term_im + b * kLanes, sizeof ti);
    std::memcpy(&ts, term_size + b * kLanes, sizeof ts);
    double* to = sums;
    for (int k = 0; k <= n; ++k, to += 3 * kLanes) {
      if (k > 0) {
        const double by = inverse[k];
        const Eight re = (tr * zr - ti * zi) * by, im = (tr * zi + ti * zr) * by;
        tr = re;
        ti = im;
        ts = ts * zs * by;
      }
      Eight sr, si, ss;
      std::memcpy(&sr, to, sizeof sr);
      std::memcpy(&si, to + kLanes, sizeof si);
      std::memcpy(&ss, to + 2 * kLanes, sizeof ss);
      sr += tr;
      si += ti;
      ss += ts;
      std::memcpy(to, &sr, sizeof sr);
      std::memcpy(to + kLanes, &si, sizeof si);
      std::memcpy(to + 2 * kLanes, &ss, sizeof ss);
    }
  }
}

/// The same where everything is real and positive: the modulus is the term.
SFUMATO_VECTOR_CLONES void add_real_powers(std::size_t blocks, int n, const double* inverse,
                                           const double* zeta, const double* first, double* sums) {
  for (std::size_t b = 0; b < blocks; ++b) {
    Eight z, term;
    std::memcpy(&z, zeta + b * kLanes, sizeof z);
    std::memcpy(&term, first + b * kLanes, sizeof term);
    double* to = sums;
    for (int k = 0; k <= n; ++k, to += kLanes) {
      if (k > 0) term = term * z * inverse[k];
      Eight sum;
      std::memcpy(&sum, to, sizeof sum);
      sum += term;
      std::memcpy(to, &sum, sizeof sum);
    }
  }
}

/// sum over 0 <= i < count of a_i b_i, in eight lanes.
SFUMATO_VECTOR_CLONES double dot(const double* a, const double* b, std::size_t count) {
  Eight lanes{};
  std::size_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    Eight x, y;
    std::memcpy(&x, a + i, sizeof x);
    std::memcpy(&y, b + i, sizeof y);
    lanes += x * y;
  }
  double sum = 0.0;
  for (std::size_t lane = 0; lane < kLanes; ++lane) sum += lanes[lane];
  for (; i < count; ++i) sum += a[i] * b[i];
  return sum;
}

/// A power series to the order n, with real and imaginary parts apart; `im` is empty where everything is real.
struct Series {
  std::vector<double> re, im;

  Series(std::size_t size, bool is_real) : re(size), im(is_real ? 0 : size) {}
  [[nodiscard]] bool is_real() const { return im.empty(); }
  [[nodiscard]] std::size_t size() const { return re.size(); }
  [[nodiscard]] Series reversed() const {
    Series other = *this;
    std::reverse(other.re.begin(), other.re.end());
    std::reverse(other.im.begin(), other.im.end());
    return other;
  }
};

/// [w^i] of a b for every i; b is given backwards.
Complex coefficient(const Series& a, const Series& backwards, std::size_t i) {
  const std::size_t from = a.size() - 1 - i, count = i + 1;
  const double* b_re = backwards.re.data() + from;
  const double re = dot(a.re.data(), b_re, count);
  if (a.is_real()) return re;
  const double* b_im = backwards.im.data() + from;
  return {re - dot(a.im.data(), b_im, count),
          dot(a.re.data(), b_im, count) + dot(a.im.data(), b_re, count)};
}

Series product(const Series& a, const Series& b) {
  const Series backwards = b.reversed();
  Series out(a.size(), a.is_real());
  for (std::size_t i = 0; i < a.size(); ++i) {
    const Complex value = coefficient(a, backwards, i);
    out.re[i] = value.real();
    if (!a.is_real()) out.im[i] = value.imag();
  }
  return out;
}

/// [w^n] of c^t for c_0 = 1 and t >= n: i B_i = sum_{k=1}^i (k (t + 1) - i) c_k B_{i-k}, all factors positive.
Complex power_by_recursion(const Series& c, double t) {
  // (k (t + 1) - i) c_k = (t + 1) k c_k - i c_k, summed over k with B backwards: B_{i-k} stands at size - 1 - (i - k).
  const std::size_t size = c.size();
  Series factors = c, power(size, c.is_real());
  power.re[size - 1] = 1.0;  // backwards
  for (std::size_t i = 1; i < size; ++i) {
    for (std::size_t k = 1; k <= i; ++k) {
      const double factor = static_cast<double>(k) * (t + 1.0) - static_cast<double>(i);
      factors.re[k] = factor * c.re[k];
      if (!c.is_real()) factors.im[k] = factor * c.im[k];
    }
    const double* b_re = power.re.data() + size - i;
    double re = dot(factors.re.data() + 1, b_re, i), im = 0.0;
    if (!c.is_real()) {
      const double* b_im = power.im.data() + size - i;
      re -= dot(factors.im.data() + 1, b_im, i);
      im = dot(factors.re.data() + 1, b_im, i) + dot(factors.im.data() + 1, b_re, i);
      power.im[size - 1 - i] = im / static_cast<double>(i);
    }
    power.re[size - 1 - i] = re / static_cast<double>(i);
  }
  return {power.re[0], c.is_real() ? 0.0 : power.im[0]};
}

/// The same for t < n, by squaring; of the last product the last coefficient alone.
Complex power_by_squaring(const Series& c, double t) {
  Series power(c.size(), c.is_real()), square = c;
  power.re[0] = 1.0;
  auto left = static_cast<unsigned>(t);
  for (; left > 1; left >>= 1U) {
    if ((left & 1U) != 0) power = product(power, square);
    square = product(square, square);
  }
  return coefficient(power, square.reversed(), c.size() - 1);
}

Complex power_of_series(const Series& c, double t) {
  return t >= static_cast<double>(c.size() - 1) ? power_by_recursion(c, t)
                                                : power_by_squaring(c, t);
}

/// At most the probability of a standard normal number beyond a > 0, as a logarithm.
double log_normal_tail(double a) { return std::log(0.5 * std::erfc(a / std::sqrt(2.0)) * 1.01); }

/// With so many bits that products with whole numbers are exact.
double with_few_bits(double x) {
  int exponent = 0;
  const double mantissa = std::frexp(x, &exponent);
  return std::ldexp(std::floor(std::ldexp(mantissa, 20)), exponent - 20);
}

/// e^{hi + lo} for a small lo, off by a unit or two.
double exp_of_sum(double hi, double lo) { return std::exp(hi) * (1.0 + lo); }

}  // namespace

Amplification::Amplification(double nu, double y)
    : nu_(nu), y_(y), log_gammas_(std::lgamma(nu) - log_gamma({nu, y}).real()) {}

AllocationRay::AllocationRay(const Shape& shape) : of_(shape.of), n_(shape.n) {
  const double m = of_.m, log_t = std::log(of_.t);
  const double eta = std::min(1.0, shape.angle / m);
  psi_ = std::max(0.0, shape.angle - m * eta);
  // How far lines may be moved in x: until the angle costs e^7.
  const double most_angle =
      std::acos(std::cos(shape.angle) * std::exp(-std::min(7.0 / shape.nu, 700.0)));
  const double room = (most_angle - psi_) / m;
  double c = 0.0, step = 0.0;
  for (const double factor : {1.0, .8, .6, .45, .3, .2, .1}) {
    const double there = factor * room;
    const double h = 2.0 * kPi * there / (46.0 + log_t + 0.5 * (eta + there) * (eta + there));
    if (h > step) c = there, step = h;
  }
  step = with_few_bits(step);
  widest_ = std::max(shape.angle, psi_ + m * c);
  double a = 9.6;
  while (log_t + 0.5 * eta * eta + log_normal_tail(a) > -49.0) a += 0.1;
  const double low = -a - m * std::max(-shape.least_p, 0.0) - step;
  const double high = a + m * std::max(shape.largest_p, 0.0) + step;
  const auto first = static_cast<long>(std::floor(low / step));
  const auto last = static_cast<long>(std::ceil(high / step));
  size_ = static_cast<std::size_t>(last - first + 1);
  const std::size_t padded = (size_ + kLanes - 1) / kLanes * kLanes;
  for (auto* v : {&weight_re_, &weight_im_, &ratio_}) v->assign(padded, 0.0);
  log_ratio_.assign(padded, -kInf);
  const double scale = step / std::sqrt(2.0 * kPi) * std::exp(0.5 * eta * eta);
  const double half_square = 0.5 * m * m, half_square_lost = std::fma(0.5 * m, m, -half_square);
  for (std::size_t j = 0; j < size_; ++j) {
    const double x = static_cast<double>(first + static_cast<long>(j)) * step;  // exact
    const double square = x * x, square_lost = std::fma(x, x, -square);
    const double weight = scale * exp_of_sum(-0.5 * square, -0.5 * square_lost);
    weight_re_[j] = weight * std::cos(eta * x);
    weight_im_[j] = -weight * std::sin(eta * x);
    const double shift = m * x, shift_lost = std::fma(m, x, -shift);
    const double sum = shift - half_square, back = sum - shift;
    const double sum_lost = (shift - (sum - back)) + (-half_square - back);
    log_ratio_[j] = sum - log_t;
    ratio_[j] = exp_of_sum(sum, sum_lost + shift_lost - half_square_lost) / of_.t;
  }
  weight_beyond_.assign(size_ + 1, Complex(0.0));
  for (std::size_t j = size_; j-- > 0;) {
    weight_beyond_[j] = weight_beyond_[j + 1] + Complex(weight_re_[j], weight_im_[j]);
  }
  for (int k = 0; k <= n_; ++k) inverse_.push_back(k == 0 ? 1.0 : 1.0 / k);
  // kappa of Spec §28.6 with every weight's modulus.
  const double turns = 2.0 * kPi * c / step;
  const double log_kappa =
      log_add_exp(log_add_exp(0.5 * (eta + c) * (eta + c), 0.5 * (eta - c) * (eta - c)) -
                      (turns + std::log1p(-std::exp(-turns))),
                  std::log(2.2) + 0.5 * eta * eta + log_normal_tail(a - step));
  // (1 + kappa)^t - 1.
  const double product = log_t + log_kappa;
  log_rule_error_ = product < -1.0 ? product + std::exp(product) : kInf;
}

/// c_k = e^{k lift} pi_k / pi_0, log pi_0, and how much larger the moduli that were added are than pi_k.
struct AllocationRay::Powers {
  Complex log_first;
  double lift = 0.0;
  std::vector<Complex> c;
  double cancellation = 1.0;

  [[nodiscard]] bool is_finite() const {
    return std::isfinite(cancellation) && std::all_of(c.begin(), c.end(), [](const Complex& value) {
             return std::isfinite(value.real()) && std::isfinite(value.imag());
           });
  }
};

AllocationRay::Powers AllocationRay::powers_at(double log_r, double lift) const {
  const double r = std::exp(log_r), cosine = std::cos(psi_), sine = std::sin(psi_),
               up = std::exp(lift);
  const auto begin = log_ratio_.begin();
  // Beyond it e^-zeta is nothing.
  const auto reached =
      static_cast<std::size_t>(std::upper_bound(begin, begin + static_cast<long>(size_),
                                                std::log(kFarthest / cosine) - log_r) -
                               begin);
  const std::size_t blocks = (reached + kLanes - 1) / kLanes, count = blocks * kLanes;
  const bool is_real = psi_ == 0.0;
  std::vector<double> zeta(count), zeta_re(count), zeta_im(count), first_re(count, 0.0),
      first_im(count, 0.0), first_size(count, 0.0);
  CompensatedSum change_re, change_im;
  for (std::size_t j = 0; j < reached; ++j) {
    const double size = r * ratio_[j];
    zeta[j] = size;
    const Complex w(weight_re_[j], weight_im_[j]);
    if (is_real) {
      const double change = std::expm1(-size), left = 1.0 + change;
      change_re.add(w.real() * change);
      change_im.add(w.imag() * change);
      const double decay = size < 0.5 ? left : std::exp(-size);
      first_re[j] = w.real() * decay;
      first_im[j] = w.imag() * decay;
      first_size[j] = std::abs(w) * decay;
      zeta_re[j] = size * up;
    } else {
      const double re = size * cosine, im = size * sine, half = std::sin(0.5 * im);
      const double decay = std::exp(-re), turn = std::sin(im);
      const Complex change(std::expm1(-re) - 2.0 * decay * half * half, decay * turn);
      const Complex part = w * change, left = w * Complex(decay * std::cos(im), decay * turn);
      change_re.add(part.real());
      change_im.add(part.imag());
      first_re[j] = left.real();
      first_im[j] = left.imag();
      first_size[j] = std::abs(w) * decay;
      zeta_re[j] = re * up;
      zeta_im[j] = -im * up;
    }
    zeta[j] *= up;
  }
  change_re.add(-weight_beyond_[reached].real());
  change_im.add(-weight_beyond_[reached].imag());

  const auto powers = static_cast<std::size_t>(n_) + 1;
  const bool all_real = is_real && weight_im_[0] == 0.0 && weight_beyond_[0].imag() == 0.0;
  const std::size_t width = all_real ? 1 : 3;
  std::vector<double> sums(powers * width * kLanes);
  std::vector<CompensatedSum> totals(powers * width);
  for (std::size_t b = 0; b < blocks; b += kChunk) {
    const std::size_t at = b * kLanes, some = std::min(kChunk, blocks - b);
    std::fill(sums.begin(), sums.end(), 0.0);
    if (all_real) {
      add_real_powers(some, n_, inverse_.data(), &zeta_re[at], &first_re[at], sums.data());
    } else {
      add_powers(some, n_, inverse_.data(), &zeta_re[at], &zeta_im[at], &zeta[at], &first_re[at],
                 &first_im[at], &first_size[at], sums.data());
    }
    for (std::size_t i = 0; i < totals.size(); ++i) {
      double sum = 0.0;
      for (std::size_t lane = 0; lane < kLanes; ++lane) sum += sums[i * kLanes + lane];
      totals[i].add(sum);
    }
  }
  const auto pi = [&](std::size_t k) {
    return all_real ? Complex(totals[k].value())
                    : Complex(totals[3 * k].value(), totals[3 * k + 1].value());
  };
  const auto size_of = [&](std::size_t k) {
    return all_real ? totals[k].value() : totals[3 * k + 2].value();
  };

  Powers result;
  result.lift = lift;
  const Complex change(change_re.value(), change_im.value());
  Complex pi0 = pi(0);
  if (std::abs(change) < 0.5) {
    result.log_first = complex_log1p(change);
    pi0 = 1.0 + change;
  } else {
    result.log_first = std::log(pi0);
    result.cancellation = std::max(1.0, 0.5 * size_of(0) / std::abs(pi0));
  }
  result.c.assign(powers, Complex(1.0));
  for (std::size_t k = 1; k < powers; ++k) {
    const Complex value = pi(k);
    result.c[k] = value / pi0;
    if (value != 0.0) {
      // The order of the arguments keeps what is not a number.
      result.cancellation = std::max(0.5 * size_of(k) / std::abs(value), result.cancellation);
    }
  }
  return result;
}

AllocationRay::Node AllocationRay::at(double log_r) const {
  const double t = of_.t, n = n_;
  // Where zeta is small its powers would underflow: lifted by about what the scale below divides by, or, where that overflows, by less.
  double lift = n_ > 0 ? std::max(0.0, std::log(n) - 1.0 - log_r) : 0.0;
  Powers powers = powers_at(log_r, lift);
  for (int i = 0; i < 3 && !powers.is_finite(); ++i) {
    lift = i < 2 ? 0.5 * lift : 0.0;
    powers = powers_at(log_r, lift);
  }
  Node node;
  const Complex first = t * powers.log_first;
  double log_size = std::fabs(first.real());
  double log_scale = 0.0;
  Complex value(1.0);
  double majorant = 1.0;
  if (n_ > 0) {
    // Powers of w are scaled so that nothing overflows.
    log_scale = -kInf;
    for (int k = 1; k <= n_; ++k) {
      const double c = std::abs(powers.c[static_cast<std::size_t>(k)]);
      if (!(c > 0.0)) continue;
      const double log = k == 1 ? 1.0 + std::log(c) + std::log(t / n)
                                : (std::log(c) + std::log(8.0 * k * k * t / n)) / k;
      log_scale = std::max(log_scale, log);
    }
    const bool is_real = std::all_of(powers.c.begin(), powers.c.end(),
                                     [](const Complex& c) { return c.imag() == 0.0; });
    Series series(powers.c.size(), is_real), moduli(powers.c.size(), true);
    for (int k = 1; k <= n_; ++k) {
      const Complex c = powers.c[static_cast<std::size_t>(k)];
      const double size = std::abs(c);
      const double log = size > 0.0 ? std::log(size) - k * log_scale : -kInf;
      const double scaled = log > -640.0 ? std::exp(log) : 0.0;
      const Complex unit = scaled > 0.0 ? c * (scaled / size) : Complex(0.0);
      series.re[static_cast<std::size_t>(k)] = unit.real();
      if (!is_real) series.im[static_cast<std::size_t>(k)] = unit.imag();
      moduli.re[static_cast<std::size_t>(k)] = scaled;
    }
    series.re[0] = moduli.re[0] = 1.0;
    value = power_of_series(series, t);
    majorant = is_real ? value.real() : power_of_series(moduli, t).real();
    log_size += n * (std::fabs(log_scale) + powers.lift);
    log_scale -= powers.lift;
  }
  const double log_value = std::log(std::abs(value)), log_majorant = std::log(majorant);
  log_size += std::fabs(log_majorant);
  node.log_modulus = first.real() + log_value + n * log_scale;
  node.argument = first.imag() + std::arg(value);
  node.log_majorant = first.real() + log_majorant + n * log_scale;
  const double r = std::exp(log_r);
  const double series = t >= n ? n + 3.0 : t * (n + 2.0);
  node.roundings = powers.cancellation * (48.0 * n + 24.0 * r) + 8.0 * series + 4.0 * log_size +
                   4.0 * std::fabs(first.imag()) + 60.0;
  return node;
}

}  // namespace sfumato
