#include "sfumato/math/expression.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <numbers>
#include <utility>

#include "sfumato/core/suggest.hpp"
#include "sfumato/math/expression_program.hpp"

namespace sfumato {
namespace {

using Op = Expression::Op;

constexpr std::size_t kLongestFormula = 20000;
constexpr int kDeepestNesting = 200;  // far below what the call stack holds

struct Function {
  std::string_view name;
  Op op;
};
constexpr std::array<Function, 7> kFunctions{{{"exp", Op::exp},
                                              {"log", Op::log},
                                              {"sqrt", Op::sqrt},
                                              {"sin", Op::sin},
                                              {"cos", Op::cos},
                                              {"tanh", Op::tanh},
                                              {"abs", Op::abs}}};

struct Constant {
  std::string_view name;
  double value;
};
constexpr std::array<Constant, 2> kConstants{{{"pi", std::numbers::pi}, {"e", std::numbers::e}}};

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

const Function* find_function(std::string_view name) {
  const auto* found = std::find_if(kFunctions.begin(), kFunctions.end(),
                                   [&](const Function& f) { return f.name == name; });
  return found == kFunctions.end() ? nullptr : found;
}

const Constant* find_constant(std::string_view name) {
  const auto* found = std::find_if(kConstants.begin(), kConstants.end(),
                                   [&](const Constant& c) { return c.name == name; });
  return found == kConstants.end() ? nullptr : found;
}

void require_names(const std::vector<std::string>& variables, const Where& where) {
  for (std::size_t i = 0; i < variables.size(); ++i) {
    const std::string& name = variables[i];
    const bool is_name =
        !name.empty() && is_letter(name[0]) &&
        std::all_of(name.begin(), name.end(), [](char c) { return is_letter(c) || is_digit(c); });
    if (!is_name) {
      throw InvalidArgument(fmt::format("\"{}\" cannot name a variable", name),
                            "Use letters, digits and underscores, a letter first", where);
    }
    if (find_function(name) != nullptr || find_constant(name) != nullptr) {
      throw InvalidArgument(
          fmt::format("the variable \"{}\" has the name of a function or constant", name),
          "Choose another name", where);
    }
    if (std::find(variables.begin(), variables.begin() + static_cast<std::ptrdiff_t>(i), name) !=
        variables.begin() + static_cast<std::ptrdiff_t>(i)) {
      throw InvalidArgument(fmt::format("two variables are named \"{}\"", name),
                            "Give each its own name", where);
    }
  }
}

/// Recursive descent; each method reads one level of precedence and returns a step's number.
class Parser {
 public:
  Parser(std::string_view text, const std::vector<std::string>& variables, const Where& where)
      : text_(text), variables_(variables), where_(where) {}

  std::vector<Expression::Step> parse() {
    const int result = sum();
    (void)peek();  // past the spaces; a byte 0 inside the text is not its end
    if (at_ < text_.size()) fail("an operator or the end", found());
    return program_.steps_for(result);
  }

 private:
  /// The next character that is not a space; 0 at the end.
  char peek() {
    while (at_ < text_.size() && is_space(text_[at_])) ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }

  bool accept(char c) {
    if (peek() != c || c == '\0') return false;
    ++at_;
    return true;
  }

  /// One level deeper, until it goes out of scope.
  class Level {
   public:
    explicit Level(Parser& parser) : parser_(parser) {
      if (++parser_.depth_ > kDeepestNesting) {
        parser_.fail(fmt::format("at most {} levels of nesting", kDeepestNesting), "one more");
      }
    }
    ~Level() { --parser_.depth_; }
    Level(const Level&) = delete;
    Level& operator=(const Level&) = delete;

   private:
    Parser& parser_;
  };

  int sum() {
    const Level level(*this);
    int value = term();
    while (true) {
      if (accept('+')) {
        value = program_.binary(Op::add, value, term());
      } else if (accept('-')) {
        value = program_.binary(Op::subtract, value, term());
      } else {
        return value;
      }
    }
  }

  int term() {
    int value = factor();
    bool divided = false;  // by the operand just read
    while (true) {
      const char next = peek();
      if (accept('*')) {
        value = program_.binary(Op::multiply, value, factor());
        divided = false;
      } else if (accept('/')) {
        value = program_.binary(Op::divide, value, factor());
        divided = true;
      } else if (is_letter(next) || next == '(') {
        if (divided) {
          fail("an operator", "a product without * after a division",
               "Write (a/b)*c or a/(b*c), whichever is meant");
        }
        value = program_.binary(Op::multiply, value, power());
      } else {
        return value;
      }
    }
  }

  int factor() {
    if (accept('-')) {
      const Level level(*this);
      return program_.unary(Op::negate, factor());
    }
    if (accept('+')) {
      const Level level(*this);
      return factor();
    }
    return power();
  }

  int power() {
    const int base = primary();
    if (!accept('^')) return base;
    const Level level(*this);
    return program_.power(base, factor());
  }

  int primary() {
    const char next = peek();
    if (accept('(')) {
      const int value = sum();
      if (!accept(')')) fail("an operator or )", found());
      return value;
    }
    if (is_digit(next) || next == '.') return number();
    if (is_letter(next)) return name();
    fail("a number, a name or (", found());
  }

  int number() {
    double value = 0.0;
    const char* begin = text_.data() + at_;
    const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), value);
    if (error == std::errc::result_out_of_range) {
      fail("a number that fits a double", std::string(begin, end));
    }
    if (error != std::errc()) fail("a number", found());
    at_ += static_cast<std::size_t>(end - begin);
    return program_.constant(value);
  }

  int name() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && (is_letter(text_[at_]) || is_digit(text_[at_]))) ++at_;
    const std::string_view name = text_.substr(begin, at_ - begin);
    for (std::size_t i = 0; i < variables_.size(); ++i) {
      if (variables_[i] == name) return program_.variable(static_cast<int>(i));
    }
    if (const Constant* constant = find_constant(name)) return program_.constant(constant->value);
    if (const Function* function = find_function(name)) {
      if (!accept('(')) fail(fmt::format("( after {}", name), found());
      const int argument = sum();
      if (!accept(')')) fail("an operator or )", found());
      return program_.unary(function->op, argument);
    }
    std::vector<std::string> known = variables_;
    for (const Function& f : kFunctions) known.emplace_back(f.name);
    for (const Constant& c : kConstants) known.emplace_back(c.name);
    at_ = begin;
    fail("a known name", fmt::format("{:.40}", name), suggestion(name, known, "names"));
  }

  std::string found() {
    const char next = peek();
    if (next == '\0') return at_ < text_.size() ? "a byte 0" : "the end";
    if (next < ' ' || next > '~') return "a character that formulas do not use";
    return std::string(1, next);
  }

  [[noreturn]] void fail(const std::string& expected, const std::string& got,
                         const std::string& remedy = "Correct the formula") {
    // Columns count characters: bytes that continue one do not count.
    const auto end = text_.begin() + static_cast<std::ptrdiff_t>(std::min(at_, text_.size()));
    const auto column = 1 + std::count_if(text_.begin(), end, [](char c) {
                          return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;
                        });
    std::string shown(text_.substr(0, 80));
    for (char& c : shown) {
      if (c < ' ' || c > '~') c = is_space(c) ? ' ' : '?';
    }
    throw InvalidArgument(fmt::format("formula \"{}{}\", column {}: expected {}, found {}", shown,
                                      text_.size() > 80 ? "..." : "", column, expected, got),
                          remedy, where_);
  }

  std::string_view text_;
  const std::vector<std::string>& variables_;
  const Where& where_;
  std::size_t at_ = 0;
  int depth_ = 0;
  ExpressionProgram program_;
};

}  // namespace

Expression Expression::parse(std::string_view formula, const std::vector<std::string>& variables,
                             const Where& where) {
  require_names(variables, where);
  if (formula.size() > kLongestFormula) {
    throw InvalidArgument(fmt::format("a formula has {} characters", formula.size()),
                          fmt::format("Keep formulas below {} characters", kLongestFormula), where);
  }
  return Expression(Parser(formula, variables, where).parse(), variables.size());
}

Expression::Expression(std::vector<Step> steps, std::size_t variables)
    : steps_(std::move(steps)), slots_(steps_.size(), -1), variables_(variables) {
  // Values that live at the same time get different slots; a slot is free after its last reader.
  const auto reads_right = [](Op op) { return op >= Op::add && op <= Op::power; };
  std::vector<std::size_t> last(steps_.size(), 0);
  const auto is_leaf = [](const Step& s) { return s.op == Op::constant || s.op == Op::variable; };
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    if (is_leaf(steps_[i])) continue;
    last[static_cast<std::size_t>(steps_[i].left)] = i;
    if (reads_right(steps_[i].op)) last[static_cast<std::size_t>(steps_[i].right)] = i;
  }
  std::vector<int> free;
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    if (is_leaf(steps_[i])) continue;
    if (free.empty()) {
      slots_[i] = slot_count_++;
    } else {
      slots_[i] = free.back();
      free.pop_back();
    }
    // Freed after the result has its own slot, so that operations never write what they read.
    const auto release = [&](int operand) {
      const auto o = static_cast<std::size_t>(operand);
      if (last[o] == i && slots_[o] >= 0) free.push_back(slots_[o]);
    };
    release(steps_[i].left);
    if (reads_right(steps_[i].op) && steps_[i].right != steps_[i].left) release(steps_[i].right);
  }
}

Expression Expression::derivative(std::size_t variable) const {
  if (variable >= variables_) {
    throw InvalidArgument(fmt::format("there is no variable {} among {}", variable, variables_),
                          "Count variables from 0");
  }
  ExpressionProgram program;
  std::vector<int> numbers;
  std::vector<int> derivatives;
  for (const Step& step : steps_) {
    numbers.push_back(program.copy(step, numbers));
    const bool is_it = step.op == Op::variable && static_cast<std::size_t>(step.left) == variable;
    derivatives.push_back(is_it
                              ? program.constant(1.0)
                              : program.derivative_of(step, numbers.back(), numbers, derivatives));
  }
  return Expression(program.steps_for(derivatives.back()), variables_);
}

Expression Expression::renumbered(const std::vector<int>& new_index, std::size_t variables) const {
  std::vector<Step> steps = steps_;
  for (Step& step : steps) {
    if (step.op == Op::variable) step.left = new_index[static_cast<std::size_t>(step.left)];
  }
  return Expression(std::move(steps), variables);
}

bool Expression::may_jump() const {
  return std::any_of(steps_.begin(), steps_.end(),
                     [](const Step& step) { return step.op == Op::sign || step.op == Op::jump; });
}

bool Expression::depends_on(std::size_t variable) const {
  return std::any_of(steps_.begin(), steps_.end(), [&](const Step& step) {
    return step.op == Op::variable && static_cast<std::size_t>(step.left) == variable;
  });
}

}  // namespace sfumato
