// Runs the program of an Expression over blocks of points: one plain loop per step, so that the
// compiler uses vector instructions.
#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "sfumato/core/check.hpp"
#include "sfumato/core/vector_clones.hpp"
#include "sfumato/math/expression.hpp"
#include "sfumato/math/expression_program.hpp"

namespace sfumato {
namespace {

using Op = Expression::Op;

constexpr std::size_t kBlock = 256;     // points; a dozen slots then fit the first-level cache
constexpr std::size_t kSmallBlock = 8;  // for single points, without an allocation

SFUMATO_VECTOR_CLONES
void run_binary(Op op, std::size_t n, const double* __restrict a, const double* __restrict b,
                double* __restrict out) {
  switch (op) {
    case Op::add:
      for (std::size_t i = 0; i < n; ++i) out[i] = a[i] + b[i];
      return;
    case Op::subtract:
      for (std::size_t i = 0; i < n; ++i) out[i] = a[i] - b[i];
      return;
    case Op::multiply:
      for (std::size_t i = 0; i < n; ++i) out[i] = a[i] * b[i];
      return;
    case Op::divide:
      for (std::size_t i = 0; i < n; ++i) out[i] = a[i] / b[i];
      return;
    default:
      for (std::size_t i = 0; i < n; ++i) out[i] = std::pow(a[i], b[i]);
      return;
  }
}

SFUMATO_VECTOR_CLONES
void run_integer_power(int exponent, std::size_t n, const double* __restrict a,
                       double* __restrict out) {
  switch (exponent) {  // the products of integer_power(), written out
    case 2:
      for (std::size_t i = 0; i < n; ++i) out[i] = a[i] * a[i];
      return;
    case 3:
      for (std::size_t i = 0; i < n; ++i) out[i] = a[i] * (a[i] * a[i]);
      return;
    case 4:
      for (std::size_t i = 0; i < n; ++i) {
        const double square = a[i] * a[i];
        out[i] = square * square;
      }
      return;
    default:
      for (std::size_t i = 0; i < n; ++i) out[i] = integer_power(a[i], exponent);
      return;
  }
}

SFUMATO_VECTOR_CLONES
void run_unary(Op op, std::size_t n, const double* __restrict a, double* __restrict out) {
  switch (op) {
    case Op::negate:
      for (std::size_t i = 0; i < n; ++i) out[i] = -a[i];
      return;
    case Op::sqrt:
      for (std::size_t i = 0; i < n; ++i) out[i] = std::sqrt(a[i]);
      return;
    case Op::abs:
      for (std::size_t i = 0; i < n; ++i) out[i] = std::abs(a[i]);
      return;
    case Op::exp:
      for (std::size_t i = 0; i < n; ++i) out[i] = std::exp(a[i]);
      return;
    default:
      for (std::size_t i = 0; i < n; ++i) out[i] = apply(op, a[i]);
      return;
  }
}

}  // namespace

void Expression::run(const double* const* columns, std::size_t count,
                     std::span<const double> shared, std::size_t points, double* out) const {
  const bool few = points <= kSmallBlock;
  const std::size_t block = few ? kSmallBlock : kBlock;
  // Slots of intermediate values, then the values that are the same at all points.
  constexpr std::size_t kLocal = 32;
  std::array<double, kLocal * kSmallBlock> local;
  std::array<const double*, kLocal> local_values;
  std::vector<double> heap;
  std::vector<const double*> heap_values;
  std::size_t fixed = 0;
  for (const Step& step : steps_) {
    fixed += step.op == Op::constant ||
             (step.op == Op::variable && static_cast<std::size_t>(step.left) >= count);
  }
  const std::size_t rows = static_cast<std::size_t>(slot_count_) + fixed;
  double* memory = local.data();
  const double** values = local_values.data();
  if (!few || rows > kLocal) {
    heap.resize(rows * block);
    memory = heap.data();
  }
  if (steps_.size() > kLocal) {
    heap_values.resize(steps_.size());
    values = heap_values.data();
  }

  double* next = memory + static_cast<std::size_t>(slot_count_) * block;
  for (std::size_t s = 0; s < steps_.size(); ++s) {
    const Step& step = steps_[s];
    const auto variable = static_cast<std::size_t>(step.left);
    if (step.op != Op::constant && (step.op != Op::variable || variable < count)) continue;
    std::fill_n(next, block, step.op == Op::constant ? step.value : shared[variable - count]);
    values[s] = next;
    next += block;
  }
  for (std::size_t first = 0; first < points; first += block) {
    const std::size_t n = std::min(block, points - first);
    for (std::size_t s = 0; s < steps_.size(); ++s) {
      const Step& step = steps_[s];
      if (step.op == Op::constant) continue;
      const auto left = static_cast<std::size_t>(step.left);
      if (step.op == Op::variable) {
        if (left < count) values[s] = columns[left] + first;
        continue;
      }
      double* result = memory + static_cast<std::size_t>(slots_[s]) * block;
      if (step.op == Op::integer_power) {
        run_integer_power(step.right, n, values[left], result);
      } else if (step.op >= Op::negate) {
        run_unary(step.op, n, values[left], result);
      } else {
        run_binary(step.op, n, values[left], values[static_cast<std::size_t>(step.right)], result);
      }
      values[s] = result;
    }
    std::copy_n(values[steps_.size() - 1], n, out + first);
  }
}

double Expression::at(std::span<const double> values) const {
  require_size("values", static_cast<std::ptrdiff_t>(values.size()),
               static_cast<std::ptrdiff_t>(variables_));
  double result = 0.0;
  run(nullptr, 0, values, 1, &result);
  return result;
}

void Expression::evaluate(const Eigen::Ref<const Eigen::ArrayXXd>& at,
                          std::span<const double> shared, Eigen::Ref<Eigen::ArrayXd> out) const {
  require_size("variables", at.cols() + static_cast<std::ptrdiff_t>(shared.size()),
               static_cast<std::ptrdiff_t>(variables_));
  require_size("out", out.size(), at.rows());
  std::vector<const double*> columns;
  for (Eigen::Index j = 0; j < at.cols(); ++j) columns.push_back(at.col(j).data());
  run(columns.data(), columns.size(), shared, static_cast<std::size_t>(at.rows()), out.data());
}

}  // namespace sfumato
