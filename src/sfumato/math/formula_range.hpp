#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "sfumato/math/expression.hpp"
#include "sfumato/math/interval.hpp"

namespace sfumato {

/// Formulas as sums of products, so that what two of them share cancels, and enclosures of their ranges.
///
/// A formula becomes a sum of whole numbers times products of powers of atoms: variables, decimal constants (of which
/// the decimal is meant, not the nearest double), functions of such sums, reciprocals. The difference of  -x + 0.3 sin(y)
/// + 0.05  and  -x + 0.3 sin(y)  is then 0.05, and not unbounded.
class FormulaRange {
 public:
  /// Atoms and their powers, ascending.
  using Product = std::vector<std::pair<int, int>>;
  using Sum = std::map<Product, double>;

  /// Throws   NumericalFailure if it has more than a few hundred terms.
  [[nodiscard]] Sum sum_of(const Expression& formula);
  [[nodiscard]] Sum constant(Interval value);
  [[nodiscard]] Sum variable(int number);

  [[nodiscard]] static Sum add(const Sum& a, const Sum& b, double sign = 1.0);
  [[nodiscard]] static Sum multiply(const Sum& a, const Sum& b);
  [[nodiscard]] Sum reciprocal(const Sum& sum);

  /// All values of the sum with the variables in a box, whose ends may be infinite, rounded outwards. Terms that share no
  /// variable are enclosed apart; in up to three variables the box is divided where that helps, in more functions that
  /// are bounded are first replaced by their ranges, so that fewer terms are connected.
  [[nodiscard]] Interval range(const Sum& sum, const std::vector<Interval>& box) const;
  /// The same without dividing: as wide as the box makes it, which is enough for a narrow one.
  [[nodiscard]] Interval value(const Sum& sum, const std::vector<Interval>& box) const;

 private:
  enum class Kind { variable, constant, function, reciprocal, power };
  struct Atom {
    Kind kind;
    Expression::Op op = Expression::Op::constant;
    int variable = 0;
    Interval value = {0.0, 0.0};
    Sum argument = {};
    Sum exponent = {};
    std::vector<int> variables = {};  ///< on which it depends, ascending
  };
  /// Coefficients by the part of a product that is not constant.
  using Terms = std::map<Product, Interval>;

  int intern(Atom atom, const std::string& key);
  [[nodiscard]] Sum atom_sum(int atom) const { return {{{{atom, 1}}, 1.0}}; }
  [[nodiscard]] Sum function(Expression::Op op, const Sum& argument);
  [[nodiscard]] Sum integer_power(const Sum& base, int exponent);
  [[nodiscard]] std::vector<int> variables_of(const Sum& sum) const;
  [[nodiscard]] std::vector<int> variables_of(const Product& product) const;
  [[nodiscard]] Terms terms_of(const Sum& sum) const;

  [[nodiscard]] Interval range_of(const Terms& terms, const std::vector<Interval>& box,
                                  bool relaxed) const;
  /// The terms with bounded functions replaced by their ranges.
  [[nodiscard]] Terms without_functions(const Terms& terms, const std::vector<Interval>& box) const;
  [[nodiscard]] Interval atom_value(const Atom& atom, const std::vector<Interval>& box) const;
  [[nodiscard]] Interval value(const Terms& terms, const std::vector<Interval>& box) const;
  [[nodiscard]] Interval by_powers(const Terms& terms, const std::vector<Interval>& box,
                                   std::map<int, Interval>& known, int depth) const;
  [[nodiscard]] double upper_end(const Terms& terms, const std::vector<int>& variables,
                                 const std::vector<Interval>& box, double sign) const;

  std::vector<Atom> atoms_;
  std::map<std::string, int> numbers_;
};

}  // namespace sfumato
