#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sfumato/core/error.hpp"

namespace sfumato {

/// A formula in named variables, such as  x - x^3 + 0.2 + 0.1 x  or  -2 (y - x/2).
///
///   + - * /    as usual, left to right
///   ^          binds tighter than a sign, and to the right:  -x^2 = -(x^2),  2^3^2 = 2^9
///   a b        is a * b where b is a name or a parenthesis:  2x,  0.1 x,  3 (x + 1) sin(y)
///   functions  exp log sqrt sin cos tanh abs, with parentheses
///   constants  pi e
///
/// a/b c  is refused: some read (a/b) c, others a/(b c).
///
/// Parsed once to a flat program without repeated subterms. Values follow IEEE: log(-1) is NaN, 1/0
/// is infinite. Immutable, and evaluated from several threads.
class Expression {
 public:
  /// `variables` are the names that may occur, in the order in which values are given.
  ///
  /// Throws   InvalidArgument with the formula, the column and what was expected there; for an
  ///          unknown name with the nearest known one; for a formula longer than 20,000 characters or
  ///          nested deeper than 200; for a variable that is not a name, is named twice, or is named
  ///          as a function or constant.
  static Expression parse(std::string_view formula, const std::vector<std::string>& variables,
                          const Where& where = Where::here());

  /// The value at one point: values[i] is that of variable i. Same bits as evaluate().
  [[nodiscard]] double at(std::span<const double> values) const;

  /// out(j) = the value at row j of `at`, whose columns are the first variables; the others have the
  /// values `shared` at all points (time, for example). `out` does not overlap `at`.
  void evaluate(const Eigen::Ref<const Eigen::ArrayXXd>& at, std::span<const double> shared,
                Eigen::Ref<Eigen::ArrayXd> out) const;

  /// The exact derivative with respect to variable i, as a formula of the same variables.
  ///
  /// Where the formula itself is not differentiable: abs' (0) = 0, sqrt'(0) = inf. sign' is 0 in value; programs name it
  /// `jump`, so that proofs see that it is unbounded there.
  [[nodiscard]] Expression derivative(std::size_t variable) const;

  /// Whether variable i occurs in the program. False means that the value cannot depend on it.
  [[nodiscard]] bool depends_on(std::size_t variable) const;

  [[nodiscard]] std::size_t variables() const { return variables_; }

  /// Whether it may jump: it contains the sign of something, as derivatives of abs do.
  [[nodiscard]] bool may_jump() const;

  /// The same formula of fewer variables: variable i becomes number new_index[i]; those that do not occur may have any.
  [[nodiscard]] Expression renumbered(const std::vector<int>& new_index,
                                      std::size_t variables) const;

  enum class Op : unsigned char {
    constant,
    variable,
    add,
    subtract,
    multiply,
    divide,
    power,
    integer_power,
    negate,
    exp,
    log,
    sqrt,
    sin,
    cos,
    tanh,
    abs,
    sign,
    jump  ///< the derivative of sign: 0, but no number where the operand may vanish
  };

  /// One step of the program; operands are earlier steps.
  struct Step {
    Op op;
    int left = 0;        ///< operand, or the number of a variable
    int right = 0;       ///< second operand, or an integer exponent
    double value = 0.0;  ///< of a constant
  };

  /// The last one is the value.
  [[nodiscard]] const std::vector<Step>& steps() const { return steps_; }

 private:
  Expression(std::vector<Step> steps, std::size_t variables);
  void run(const double* const* columns, std::size_t count, std::span<const double> shared,
           std::size_t points, double* out) const;

  std::vector<Step> steps_;  ///< the last one is the value
  std::vector<int> slots_;   ///< where a step's values lie; steps that are not needed at once share
  int slot_count_ = 0;
  std::size_t variables_;
};

}  // namespace sfumato
