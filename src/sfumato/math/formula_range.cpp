#include "sfumato/math/formula_range.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <queue>
#include <set>

#include "sfumato/core/error.hpp"
#include "sfumato/core/infinity.hpp"
#include "sfumato/math/interval_arithmetic.hpp"

namespace sfumato {
namespace {

using Op = Expression::Op;
using Sum = FormulaRange::Sum;
using Product = FormulaRange::Product;

constexpr std::size_t kMostTerms = 400;
constexpr double kLargestWhole = 1e15;  // whole numbers are exact to there
constexpr int kMostPower = 16;

void require_small(const Sum& sum) {
  if (sum.size() <= kMostTerms) return;
  throw NumericalFailure("a formula has too many terms to enclose its range", "Shorten it",
                         Where::here("enclosure"));
}

/// Factors are whole numbers that doubles hold exactly.
void require_whole(double factor) {
  if (std::abs(factor) < kLargestWhole) return;
  throw NumericalFailure("a formula has too large factors to enclose its range", "Shorten it",
                         Where::here("enclosure"));
}

Product times(const Product& a, const Product& b) {
  Product result;
  auto i = a.begin(), j = b.begin();
  while (i != a.end() || j != b.end()) {
    if (j == b.end() || (i != a.end() && i->first < j->first)) {
      result.push_back(*i++);
    } else if (i == a.end() || j->first < i->first) {
      result.push_back(*j++);
    } else {
      result.emplace_back(i->first, i->second + j->second);
      ++i, ++j;
    }
  }
  return result;
}

std::string key_of(const Sum& sum) {
  std::string key;
  for (const auto& [product, factor] : sum) {
    key += fmt::format("{:+}", factor);
    for (const auto& [atom, power] : product) key += fmt::format("*{}^{}", atom, power);
  }
  return key;
}

Interval apply(Op op, Interval a) {
  switch (op) {
    case Op::exp: return exp(a);
    case Op::log: return log(a);
    case Op::sqrt: return sqrt(a);
    case Op::sin: return sin(a);
    case Op::cos: return cos(a);
    case Op::tanh: return tanh(a);
    case Op::abs: return abs(a);
    case Op::sign: return sign(a);
    case Op::jump: return jump(a);
    default: return all_numbers();
  }
}

/// Where an interval is divided: unbounded ones at 0, then at growing distances.
double middle_of(Interval a) {
  if (a.lower == -kInf && a.upper == kInf) return 0.0;
  if (a.upper == kInf) return a.lower < 1.0 ? std::max(1.0, a.lower + 1.0) : 4.0 * a.lower;
  if (a.lower == -kInf) return a.upper > -1.0 ? std::min(-1.0, a.upper - 1.0) : 4.0 * a.upper;
  return 0.5 * a.lower + 0.5 * a.upper;
}

/// Its length as seen from near 0, where formulas do most.
double apparent_width(Interval a) {
  return std::atan(a.upper) - std::atan(a.lower) + 1e-3 * (is_bounded(a) ? width(a) : 0.0);
}

}  // namespace

int FormulaRange::intern(Atom atom, const std::string& key) {
  const auto [entry, is_new] = numbers_.try_emplace(key, static_cast<int>(atoms_.size()));
  if (is_new) atoms_.push_back(std::move(atom));
  return entry->second;
}

Sum FormulaRange::constant(Interval value) {
  if (value.lower == value.upper && std::trunc(value.lower) == value.lower &&
      std::abs(value.lower) < kLargestWhole) {
    if (value.lower == 0.0) return {};
    return {{{}, value.lower}};
  }
  Atom atom{Kind::constant};
  atom.value = value;
  return atom_sum(intern(std::move(atom), fmt::format("c{:a},{:a}", value.lower, value.upper)));
}

Sum FormulaRange::variable(int number) {
  Atom atom{Kind::variable};
  atom.variable = number;
  atom.variables = {number};
  return atom_sum(intern(std::move(atom), fmt::format("x{}", number)));
}

Sum FormulaRange::add(const Sum& a, const Sum& b, double sign) {
  Sum result = a;
  for (const auto& [product, factor] : b) {
    const auto [entry, is_new] = result.try_emplace(product, sign * factor);
    if (is_new) continue;
    entry->second += sign * factor;
    require_whole(entry->second);
    if (entry->second == 0.0) result.erase(entry);
  }
  require_small(result);
  return result;
}

Sum FormulaRange::multiply(const Sum& a, const Sum& b) {
  if (a.size() * b.size() > 20 * kMostTerms) {
    throw NumericalFailure("a formula has too many terms to enclose its range", "Shorten it",
                           Where::here("enclosure"));
  }
  Sum result;
  for (const auto& [left, x] : a) {
    for (const auto& [right, y] : b) {
      require_whole(x * y);
      const auto [entry, is_new] = result.try_emplace(times(left, right), x * y);
      if (is_new) continue;
      entry->second += x * y;
      require_whole(entry->second);
      if (entry->second == 0.0) result.erase(entry);
    }
  }
  require_small(result);
  return result;
}

Sum FormulaRange::function(Op op, const Sum& argument) {
  if (op == Op::negate) return add({}, argument, -1.0);
  Atom atom{Kind::function, op};
  atom.argument = argument;
  atom.variables = variables_of(argument);
  return atom_sum(
      intern(std::move(atom), fmt::format("f{}({})", static_cast<int>(op), key_of(argument))));
}

Sum FormulaRange::reciprocal(const Sum& sum) {
  Atom atom{Kind::reciprocal};
  atom.argument = sum;
  atom.variables = variables_of(sum);
  if (atom.variables.empty()) {
    return constant(inverse(value(sum, {})));
  }
  return atom_sum(intern(std::move(atom), fmt::format("r({})", key_of(sum))));
}

Sum FormulaRange::integer_power(const Sum& base, int exponent) {
  if (exponent < 0) return integer_power(reciprocal(base), -exponent);
  if (exponent > kMostPower) {
    throw NumericalFailure("a formula has too large a power to enclose its range", "Shorten it",
                           Where::here("enclosure"));
  }
  Sum result = {{{}, 1.0}};
  for (int i = 0; i < exponent; ++i) result = multiply(result, base);
  return result;
}

Sum FormulaRange::sum_of(const Expression& formula) {
  std::vector<Sum> values;
  for (const Expression::Step& step : formula.steps()) {
    const auto left = [&]() -> const Sum& { return values[static_cast<std::size_t>(step.left)]; };
    const auto right = [&]() -> const Sum& { return values[static_cast<std::size_t>(step.right)]; };
    switch (step.op) {
      case Op::constant: values.push_back(constant(decimal(step.value))); break;
      case Op::variable: values.push_back(variable(step.left)); break;
      case Op::add: values.push_back(add(left(), right())); break;
      case Op::subtract: values.push_back(add(left(), right(), -1.0)); break;
      case Op::multiply: values.push_back(multiply(left(), right())); break;
      case Op::divide: values.push_back(multiply(left(), reciprocal(right()))); break;
      case Op::integer_power: values.push_back(integer_power(left(), step.right)); break;
      case Op::power: {
        Atom atom{Kind::power};
        atom.argument = left();
        atom.exponent = right();
        atom.variables = variables_of(add(left(), right()));
        const std::string key = fmt::format("p({},{})", key_of(left()), key_of(right()));
        values.push_back(atom_sum(intern(std::move(atom), key)));
        break;
      }
      default: values.push_back(function(step.op, left()));
    }
  }
  return values.back();
}

std::vector<int> FormulaRange::variables_of(const Product& product) const {
  std::set<int> all;
  for (const auto& [atom, power] : product) {
    const auto& own = atoms_[static_cast<std::size_t>(atom)].variables;
    all.insert(own.begin(), own.end());
  }
  return {all.begin(), all.end()};
}

std::vector<int> FormulaRange::variables_of(const Sum& sum) const {
  std::set<int> all;
  for (const auto& [product, factor] : sum) {
    const std::vector<int> own = variables_of(product);
    all.insert(own.begin(), own.end());
  }
  return {all.begin(), all.end()};
}

FormulaRange::Terms FormulaRange::terms_of(const Sum& sum) const {
  Terms terms;
  for (const auto& [product, factor] : sum) {
    Interval coefficient = just(factor);
    Product varying;
    for (const auto& [number, exponent] : product) {
      const Atom& atom = atoms_[static_cast<std::size_t>(number)];
      if (!atom.variables.empty()) {
        varying.emplace_back(number, exponent);
      } else {
        coefficient = coefficient * power(atom_value(atom, {}), exponent);
      }
    }
    const auto [entry, is_new] = terms.try_emplace(varying, coefficient);
    if (!is_new) entry->second = entry->second + coefficient;
  }
  return terms;
}

Interval FormulaRange::atom_value(const Atom& atom, const std::vector<Interval>& box) const {
  switch (atom.kind) {
    case Kind::variable: return box[static_cast<std::size_t>(atom.variable)];
    case Kind::constant: return atom.value;
    case Kind::function: return apply(atom.op, value(atom.argument, box));
    case Kind::reciprocal: return inverse(value(atom.argument, box));
    case Kind::power: return power(value(atom.argument, box), value(atom.exponent, box));
  }
  throw InternalError("an atom without a kind");
}

Interval FormulaRange::value(const Sum& sum, const std::vector<Interval>& box) const {
  return value(terms_of(sum), box);
}

Interval FormulaRange::value(const Terms& terms, const std::vector<Interval>& box) const {
  std::map<int, Interval> known;
  for (const auto& [product, coefficient] : terms) {
    for (const auto& [atom, exponent] : product) {
      if (!known.contains(atom)) {
        known.emplace(atom, atom_value(atoms_[static_cast<std::size_t>(atom)], box));
      }
    }
  }
  return by_powers(terms, box, known, 0);
}

/// Term by term, and in the manner of Horner in the atom that occurs most often: each is right, so that both are.
Interval FormulaRange::by_powers(const Terms& terms, const std::vector<Interval>& box,
                                 std::map<int, Interval>& known, int depth) const {
  Interval sum = just(0.0);
  std::map<int, int> counts;
  for (const auto& [product, coefficient] : terms) {
    Interval term = coefficient;
    for (const auto& [atom, exponent] : product) {
      term = term * power(known.at(atom), exponent);
      ++counts[atom];
    }
    sum = sum + term;
  }
  const auto most =
      std::max_element(counts.begin(), counts.end(),
                       [](const auto& a, const auto& b) { return a.second < b.second; });
  if (most == counts.end() || most->second < 2 || depth > 6) return sum;
  const int atom = most->first;
  std::map<int, Terms, std::greater<>> by_exponent;
  for (const auto& [product, coefficient] : terms) {
    int exponent = 0;
    Product rest;
    for (const auto& factor : product) {
      if (factor.first == atom) {
        exponent = factor.second;
      } else {
        rest.push_back(factor);
      }
    }
    by_exponent[exponent].emplace(rest, coefficient);
  }
  Interval nested = just(0.0);
  int at = by_exponent.begin()->first;
  for (const auto& [exponent, group] : by_exponent) {
    nested =
        nested * power(known.at(atom), at - exponent) + by_powers(group, box, known, depth + 1);
    at = exponent;
  }
  return both(sum, nested * power(known.at(atom), at));
}

/// An upper end of sign * terms: the box is divided where it may be attained, until no more is to be had.
double FormulaRange::upper_end(const Terms& terms, const std::vector<int>& variables,
                               const std::vector<Interval>& box, double sign) const {
  struct Piece {
    double upper;
    std::vector<Interval> box;
    bool operator<(const Piece& other) const { return upper < other.upper; }
  };
  const auto bound = [&](const std::vector<Interval>& at) {
    const Interval v = value(terms, at);
    return sign > 0.0 ? v : -v;
  };
  const auto attained = [&](std::vector<Interval> at) {
    for (const int i : variables) {
      Interval& side = at[static_cast<std::size_t>(i)];
      side = just(middle_of(side));
    }
    return bound(at).lower;
  };
  std::priority_queue<Piece> pieces;
  pieces.push({bound(box).upper, box});
  double best = attained(box);
  const int most = variables.size() == 1 ? 300 : variables.size() <= 3 ? 1500 : 0;
  double checked = pieces.top().upper;
  for (int i = 0; i < most; ++i) {
    const Piece top = pieces.top();
    const double scale = std::isfinite(checked) ? 1e-3 * std::abs(checked) : 0.0;
    if (top.upper <= best + 1e-7 * std::max(std::abs(best), scale)) break;
    if (i % 100 == 99) {  // dividing does not help here
      if (top.upper == kInf ? i > 200 : top.upper > checked - scale) break;
      checked = top.upper;
    }
    pieces.pop();
    const int side = *std::max_element(variables.begin(), variables.end(), [&](int a, int b) {
      return apparent_width(top.box[static_cast<std::size_t>(a)]) <
             apparent_width(top.box[static_cast<std::size_t>(b)]);
    });
    const Interval whole = top.box[static_cast<std::size_t>(side)];
    const double middle = middle_of(whole);
    if (!(middle > whole.lower && middle < whole.upper)) {
      pieces.push(top);
      break;
    }
    for (const Interval half : {Interval{whole.lower, middle}, Interval{middle, whole.upper}}) {
      Piece piece = top;
      piece.box[static_cast<std::size_t>(side)] = half;
      piece.upper = std::min(top.upper, bound(piece.box).upper);
      best = std::max(best, attained(piece.box));
      pieces.push(std::move(piece));
    }
  }
  return pieces.top().upper;
}

FormulaRange::Terms FormulaRange::without_functions(const Terms& terms,
                                                    const std::vector<Interval>& box) const {
  Terms result;
  for (const auto& [product, coefficient] : terms) {
    Interval factor = coefficient;
    Product rest;
    for (const auto& [number, exponent] : product) {
      const Atom& atom = atoms_[static_cast<std::size_t>(number)];
      const Interval value = atom.kind == Kind::variable ? all_numbers() : atom_value(atom, box);
      if (is_bounded(value)) {
        factor = factor * power(value, exponent);
      } else {
        rest.emplace_back(number, exponent);
      }
    }
    const auto [entry, is_new] = result.try_emplace(rest, factor);
    if (!is_new) entry->second = entry->second + factor;
  }
  return result;
}

Interval FormulaRange::range(const Sum& sum, const std::vector<Interval>& box) const {
  return range_of(terms_of(sum), box, false);
}

Interval FormulaRange::range_of(const Terms& terms, const std::vector<Interval>& box,
                                bool relaxed) const {
  // Terms that are connected by variables, found by merging.
  std::vector<std::pair<std::set<int>, Terms>> parts;
  Interval total = just(0.0);
  for (const auto& [product, coefficient] : terms) {
    const std::vector<int> own = variables_of(product);
    if (own.empty()) {
      total = total + coefficient;
      continue;
    }
    std::pair<std::set<int>, Terms> merged{{own.begin(), own.end()}, {{product, coefficient}}};
    std::erase_if(parts, [&](const auto& part) {
      const bool shared =
          std::any_of(own.begin(), own.end(), [&](int v) { return part.first.contains(v); });
      if (shared) {
        merged.first.insert(part.first.begin(), part.first.end());
        merged.second.insert(part.second.begin(), part.second.end());
      }
      return shared;
    });
    parts.push_back(std::move(merged));
  }
  for (const auto& [variables, own] : parts) {
    const std::vector<int> list(variables.begin(), variables.end());
    constexpr std::size_t kDivided = 3;
    if (list.size() > kDivided && !relaxed) {
      total = total + both(value(own, box), range_of(without_functions(own, box), box, true));
      continue;
    }
    total = total + Interval{-upper_end(own, list, box, -1.0), upper_end(own, list, box, 1.0)};
  }
  return total;
}

}  // namespace sfumato
