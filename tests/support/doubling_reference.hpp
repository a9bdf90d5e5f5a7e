#pragma once

#include <Eigen/Core>
#include <boost/multiprecision/cpp_bin_float.hpp>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

/// Distributions of noisy gradient flow and descent by 250-digit arithmetic and doubling alone, without any
/// eigenvalue: (F, V, c) of one step become those of two by  F F,  V + F V F^T,  c + F c.
namespace sfumato::doubling {

using Digits = boost::multiprecision::number<boost::multiprecision::cpp_bin_float<250>,
                                             boost::multiprecision::et_off>;
using Matrix = std::vector<std::vector<Digits>>;
using Vector = std::vector<Digits>;

struct Step {
  Matrix factor;    ///< F
  Matrix variance;  ///< V
  Vector moved;     ///< c: the mean from a start at 0
};

inline Matrix zeros(std::size_t d) { return Matrix(d, Vector(d, Digits(0))); }

inline Matrix product(const Matrix& a, const Matrix& b) {
  const std::size_t d = a.size();
  Matrix c = zeros(d);
  for (std::size_t i = 0; i < d; ++i) {
    for (std::size_t k = 0; k < d; ++k) {
      for (std::size_t j = 0; j < d; ++j) c[i][j] += a[i][k] * b[k][j];
    }
  }
  return c;
}

inline Matrix transpose(const Matrix& a) {
  Matrix t = a;
  for (std::size_t i = 0; i < a.size(); ++i) {
    for (std::size_t j = 0; j < a.size(); ++j) t[i][j] = a[j][i];
  }
  return t;
}

inline Vector product(const Matrix& a, const Vector& x) {
  Vector y(x.size(), Digits(0));
  for (std::size_t i = 0; i < x.size(); ++i) {
    for (std::size_t j = 0; j < x.size(); ++j) y[i] += a[i][j] * x[j];
  }
  return y;
}

inline Matrix sum(const Matrix& a, const Matrix& b) {
  Matrix c = a;
  for (std::size_t i = 0; i < a.size(); ++i) {
    for (std::size_t j = 0; j < a.size(); ++j) c[i][j] += b[i][j];
  }
  return c;
}

inline Matrix scaled(const Matrix& a, const Digits& s) {
  Matrix c = a;
  for (auto& row : c) {
    for (Digits& value : row) value *= s;
  }
  return c;
}

/// First `a`, then `b`.
inline Step then(const Step& a, const Step& b) {
  Vector moved = product(b.factor, a.moved);
  for (std::size_t i = 0; i < moved.size(); ++i) moved[i] += b.moved[i];
  return {product(b.factor, a.factor),
          sum(b.variance, product(product(b.factor, a.variance), transpose(b.factor))),
          std::move(moved)};
}

inline Digits norm(const Matrix& a) {
  Digits largest = 0;
  for (const auto& row : a) {
    Digits sum = 0;
    for (const Digits& value : row) sum += abs(value);
    if (sum > largest) largest = sum;
  }
  return largest;
}

/// The flow over a time h with |A| h <= 1/2, by its Taylor series.
inline Step short_flow(const Matrix& a, const Vector& pull, const Matrix& noise, const Digits& h) {
  const std::size_t d = pull.size();
  Matrix power = zeros(d);  // (-A h)^k / k!
  for (std::size_t i = 0; i < d; ++i) power[i][i] = 1;
  Step step{power, zeros(d), Vector(d, Digits(0))};
  Matrix spread = scaled(noise, h);  // h^{k+1} / (k+1)! L^k(noise),  L(S) = -(A S + S A)
  Vector shift = pull;               // h^{k+1} / (k+1)! (-A)^k pull
  for (Digits& value : shift) value *= h;
  for (int k = 1; k < 200; ++k) {
    step.variance = sum(step.variance, spread);
    for (std::size_t i = 0; i < d; ++i) step.moved[i] += shift[i];
    power = scaled(product(power, a), -h / k);
    step.factor = sum(step.factor, power);
    spread = scaled(sum(product(a, spread), product(spread, a)), -h / (k + 1));
    shift = product(a, shift);
    for (Digits& value : shift) value *= -h / (k + 1);
  }
  return step;
}

/// Doubled until the start is forgotten: the stationary distribution.
inline Step forever(Step step) {
  for (int k = 0; k < 1000 && norm(step.factor) > Digits("1e-200"); ++k) step = then(step, step);
  return step;
}

inline Step flow(const Matrix& a, const Vector& pull, const Matrix& noise, double time) {
  const bool finite = time < std::numeric_limits<double>::infinity();
  int halvings = 0;
  Digits h = finite ? Digits(time) : Digits(1) / (2 * norm(a));
  while (norm(a) * h > Digits(0.5)) {
    h /= 2;
    ++halvings;
  }
  Step step = short_flow(a, pull, noise, h);
  if (!finite) return forever(step);
  for (int k = 0; k < halvings; ++k) step = then(step, step);
  return step;
}

inline Step chain(const Matrix& a, const Vector& pull, double rate, const Matrix& step_noise,
                  double steps) {
  const std::size_t d = pull.size();
  Step one{scaled(a, -Digits(rate)), step_noise, pull};
  for (std::size_t i = 0; i < d; ++i) {
    one.factor[i][i] += 1;
    one.moved[i] *= rate;
  }
  if (std::isinf(steps)) return forever(one);
  Step all{zeros(d), zeros(d), Vector(d, Digits(0))};
  for (std::size_t i = 0; i < d; ++i) all.factor[i][i] = 1;
  for (double left = steps; left > 0.0; left = std::floor(left / 2.0)) {
    if (std::fmod(left, 2.0) == 1.0) all = then(all, one);
    one = then(one, one);
  }
  return all;
}

/// KL( N(p.moved, p.variance) || N(q.moved, q.variance) ) by Gaussian elimination.
inline double kl(const Step& p, const Step& q) {
  const std::size_t d = p.moved.size();
  const auto log_det_and_solve = [d](Matrix a, Matrix& b) {
    Digits log_det = 0;
    for (std::size_t k = 0; k < d; ++k) {
      log_det += log(a[k][k]);
      for (std::size_t i = k + 1; i < d; ++i) {
        const Digits f = a[i][k] / a[k][k];
        for (std::size_t j = 0; j < d; ++j) a[i][j] -= f * a[k][j];
        for (std::size_t j = 0; j < b[i].size(); ++j) b[i][j] -= f * b[k][j];
      }
    }
    for (std::size_t k = d; k-- > 0;) {
      for (std::size_t j = 0; j < b[k].size(); ++j) {
        for (std::size_t i = k + 1; i < d; ++i) b[k][j] -= a[k][i] * b[i][j];
        b[k][j] /= a[k][k];
      }
    }
    return log_det;
  };
  Matrix right = p.variance;  // and the difference of the means as one more column
  for (std::size_t i = 0; i < d; ++i) right[i].push_back(p.moved[i] - q.moved[i]);
  const Digits log_q = log_det_and_solve(q.variance, right);
  Matrix none(d);
  const Digits log_p = log_det_and_solve(p.variance, none);
  Digits total = log_q - log_p - static_cast<double>(d);
  for (std::size_t i = 0; i < d; ++i) {
    total += right[i][i] + (p.moved[i] - q.moved[i]) * right[i][d];
  }
  return static_cast<double>(total / 2);
}

}  // namespace sfumato::doubling
