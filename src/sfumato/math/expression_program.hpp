#pragma once

#include <map>
#include <tuple>
#include <vector>

#include "sfumato/math/expression.hpp"

namespace sfumato {

/// Builds the steps of an expression: equal steps once, operations on constants done at once.
class ExpressionProgram {
 public:
  using Op = Expression::Op;
  using Step = Expression::Step;

  /// A step's number, for use as an operand.
  int constant(double value);
  int variable(int index);
  int unary(Op op, int operand);
  int binary(Op op, int left, int right);
  /// base^exponent, with products for small whole exponents and exp for the base e.
  int power(int base, int exponent);
  int integer_power(int base, int exponent);
  int copy(const Step& step, const std::vector<int>& numbers);

  /// The same, but without terms that are zero and factors that are one: for derivatives, in which a
  /// vanishing factor means that the term is absent, even next to an infinite one.
  int sum(int left, int right);
  int difference(int left, int right);
  int product(int left, int right);
  int quotient(int left, int right);

  /// The derivative of step i; `numbers` and `derivatives` are those of the earlier steps.
  int derivative_of(const Step& step, int self, const std::vector<int>& numbers,
                    const std::vector<int>& derivatives);

  /// The steps that `result` needs, in order.
  [[nodiscard]] std::vector<Step> steps_for(int result) const;

 private:
  int add(const Step& step);
  [[nodiscard]] bool is_constant(int step, double value) const;

  std::vector<Step> steps_;
  std::map<std::tuple<int, int, int, std::uint64_t>, int> known_;
};

/// The operations on one or two numbers, the same in constants and in programs.
[[nodiscard]] double apply(Expression::Op op, double operand);
[[nodiscard]] double apply(Expression::Op op, double left, double right);
[[nodiscard]] double integer_power(double base, int exponent);

}  // namespace sfumato
