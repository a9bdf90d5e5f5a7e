#include "sfumato/math/expression_program.hpp"

#include <bit>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <utility>

namespace sfumato {
namespace {

using Op = Expression::Op;
using Step = Expression::Step;

// Products up to here: the error of repeated squaring is below 16 roundings, a call of pow takes
// twenty times as long.
constexpr double kLargestProduct = 16.0;

bool is_unary(Op op) { return op >= Op::negate; }
bool is_binary(Op op) { return op >= Op::add && op <= Op::power; }

}  // namespace

double integer_power(double base, int exponent) {
  double result = 1.0;
  double square = base;
  for (int left = std::abs(exponent); left != 0; left >>= 1) {
    if ((left & 1) != 0) result *= square;
    if (left > 1) square *= square;
  }
  return exponent < 0 ? 1.0 / result : result;
}

double apply(Op op, double operand) {
  switch (op) {
    case Op::negate: return -operand;
    case Op::exp: return std::exp(operand);
    case Op::log: return std::log(operand);
    case Op::sqrt: return std::sqrt(operand);
    case Op::sin: return std::sin(operand);
    case Op::cos: return std::cos(operand);
    case Op::tanh: return std::tanh(operand);
    case Op::abs: return std::abs(operand);
    case Op::sign: return operand > 0.0 ? 1.0 : operand < 0.0 ? -1.0 : operand;
    case Op::jump: return 0.0;
    default: throw InternalError("not a function of one argument");
  }
}

double apply(Op op, double left, double right) {
  switch (op) {
    case Op::add: return left + right;
    case Op::subtract: return left - right;
    case Op::multiply: return left * right;
    case Op::divide: return left / right;
    case Op::power: return std::pow(left, right);
    default: throw InternalError("not an operator");
  }
}

int ExpressionProgram::add(const Step& step) {
  const auto key = std::make_tuple(static_cast<int>(step.op), step.left, step.right,
                                   std::bit_cast<std::uint64_t>(step.value));
  const auto [entry, is_new] = known_.try_emplace(key, static_cast<int>(steps_.size()));
  if (is_new) steps_.push_back(step);
  return entry->second;
}

bool ExpressionProgram::is_constant(int step, double value) const {
  const Step& s = steps_[static_cast<std::size_t>(step)];
  return s.op == Op::constant && s.value == value;
}

int ExpressionProgram::constant(double value) { return add({Op::constant, 0, 0, value}); }

int ExpressionProgram::variable(int index) { return add({Op::variable, index}); }

int ExpressionProgram::unary(Op op, int operand) {
  const Step& s = steps_[static_cast<std::size_t>(operand)];
  if (s.op == Op::constant) return constant(apply(op, s.value));
  return add({op, operand});
}

int ExpressionProgram::binary(Op op, int left, int right) {
  const Step& a = steps_[static_cast<std::size_t>(left)];
  const Step& b = steps_[static_cast<std::size_t>(right)];
  if (a.op == Op::constant && b.op == Op::constant) return constant(apply(op, a.value, b.value));
  return add({op, left, right});
}

int ExpressionProgram::integer_power(int base, int exponent) {
  if (exponent == 1) return base;
  const Step& b = steps_[static_cast<std::size_t>(base)];
  if (b.op == Op::constant) return constant(sfumato::integer_power(b.value, exponent));
  return add({Op::integer_power, base, exponent});
}

int ExpressionProgram::power(int base, int exponent) {
  const Step& e = steps_[static_cast<std::size_t>(exponent)];
  if (e.op == Op::constant && std::abs(e.value) <= kLargestProduct &&
      e.value == std::nearbyint(e.value)) {
    return integer_power(base, static_cast<int>(e.value));
  }
  if (is_constant(base, std::numbers::e)) return unary(Op::exp, exponent);
  return binary(Op::power, base, exponent);
}

int ExpressionProgram::sum(int left, int right) {
  if (is_constant(left, 0.0)) return right;
  if (is_constant(right, 0.0)) return left;
  return binary(Op::add, left, right);
}

int ExpressionProgram::difference(int left, int right) {
  if (is_constant(right, 0.0)) return left;
  if (is_constant(left, 0.0)) return unary(Op::negate, right);
  return binary(Op::subtract, left, right);
}

int ExpressionProgram::product(int left, int right) {
  if (is_constant(left, 0.0) || is_constant(right, 0.0)) return constant(0.0);
  if (is_constant(left, 1.0)) return right;
  if (is_constant(right, 1.0)) return left;
  return binary(Op::multiply, left, right);
}

int ExpressionProgram::quotient(int left, int right) {
  if (is_constant(left, 0.0)) return left;
  if (is_constant(right, 1.0)) return left;
  return binary(Op::divide, left, right);
}

int ExpressionProgram::copy(const Step& step, const std::vector<int>& numbers) {
  const auto number = [&](int i) { return numbers[static_cast<std::size_t>(i)]; };
  if (step.op == Op::constant) return constant(step.value);
  if (step.op == Op::variable) return variable(step.left);
  if (step.op == Op::integer_power) return integer_power(number(step.left), step.right);
  if (is_unary(step.op)) return unary(step.op, number(step.left));
  return binary(step.op, number(step.left), number(step.right));
}

int ExpressionProgram::derivative_of(const Step& step, int self, const std::vector<int>& numbers,
                                     const std::vector<int>& derivatives) {
  const auto number = [&](int i) { return numbers[static_cast<std::size_t>(i)]; };
  const auto slope = [&](int i) { return derivatives[static_cast<std::size_t>(i)]; };
  switch (step.op) {
    case Op::constant:
    case Op::variable: return constant(0.0);
    case Op::add: return sum(slope(step.left), slope(step.right));
    case Op::subtract: return difference(slope(step.left), slope(step.right));
    case Op::multiply:
      return sum(product(slope(step.left), number(step.right)),
                 product(number(step.left), slope(step.right)));
    case Op::divide:  // (a' - (a/b) b') / b
      return quotient(difference(slope(step.left), product(self, slope(step.right))),
                      number(step.right));
    case Op::integer_power:
      return product(
          product(constant(step.right), integer_power(number(step.left), step.right - 1)),
          slope(step.left));
    case Op::power: {
      // b a^(b-1) a' + a^b log(a) b'
      const int base = number(step.left);
      const int exponent = number(step.right);
      const int lower = power(base, binary(Op::subtract, exponent, constant(1.0)));
      const int from_base = product(product(exponent, lower), slope(step.left));
      if (is_constant(slope(step.right), 0.0)) return from_base;
      return sum(from_base, product(product(self, unary(Op::log, base)), slope(step.right)));
    }
    case Op::negate: return difference(constant(0.0), slope(step.left));
    case Op::exp: return product(self, slope(step.left));
    case Op::log: return quotient(slope(step.left), number(step.left));
    case Op::sqrt: return quotient(slope(step.left), product(constant(2.0), self));
    case Op::sin: return product(unary(Op::cos, number(step.left)), slope(step.left));
    case Op::cos:
      return difference(constant(0.0),
                        product(unary(Op::sin, number(step.left)), slope(step.left)));
    case Op::tanh:
      return product(difference(constant(1.0), integer_power(self, 2)), slope(step.left));
    case Op::abs: return product(unary(Op::sign, number(step.left)), slope(step.left));
    case Op::sign: return product(unary(Op::jump, number(step.left)), slope(step.left));
    case Op::jump:  // 0 away from the jump, where its enclosure is all numbers: u j'(u) = -j(u)
      return product(difference(constant(0.0), quotient(self, number(step.left))),
                     slope(step.left));
  }
  throw InternalError("an operation without a derivative");
}

std::vector<Step> ExpressionProgram::steps_for(int result) const {
  std::vector<bool> needed(steps_.size(), false);
  needed[static_cast<std::size_t>(result)] = true;
  for (std::size_t i = static_cast<std::size_t>(result) + 1; i-- > 0;) {
    const Step& step = steps_[i];
    if (!needed[i] || step.op == Op::constant || step.op == Op::variable) continue;
    needed[static_cast<std::size_t>(step.left)] = true;
    if (is_binary(step.op)) needed[static_cast<std::size_t>(step.right)] = true;
  }
  std::vector<int> moved(steps_.size(), -1);
  std::vector<Step> kept;
  for (std::size_t i = 0; i <= static_cast<std::size_t>(result); ++i) {
    if (!needed[i]) continue;
    moved[i] = static_cast<int>(kept.size());
    Step step = steps_[i];
    if (step.op != Op::constant && step.op != Op::variable) {
      step.left = moved[static_cast<std::size_t>(step.left)];
      if (is_binary(step.op)) step.right = moved[static_cast<std::size_t>(step.right)];
    }
    kept.push_back(step);
  }
  return kept;
}

}  // namespace sfumato
