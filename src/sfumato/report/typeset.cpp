#include "sfumato/report/typeset.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <utility>

#include "sfumato/core/overloaded.hpp"
#include "sfumato/report/html_text.hpp"
#include "sfumato/report/printable.hpp"

namespace sfumato {
namespace {

using View = std::string_view;

constexpr const char* kNoBreak = "\u00a0";

struct Sign {
  View word;
  View sign;
};

constexpr std::array kGreek = {
    Sign{"alpha", "α"},  Sign{"beta", "β"},    Sign{"gamma", "γ"},  Sign{"delta", "δ"},
    Sign{"eps", "ε"},    Sign{"epsilon", "ε"}, Sign{"zeta", "ζ"},   Sign{"eta", "η"},
    Sign{"theta", "θ"},  Sign{"kappa", "κ"},   Sign{"lambda", "λ"}, Sign{"mu", "μ"},
    Sign{"rho", "ρ"},    Sign{"sigma", "σ"},   Sign{"tau", "τ"},    Sign{"phi", "φ"},
    Sign{"chi", "χ"},    Sign{"psi", "ψ"},     Sign{"omega", "ω"},  Sign{"Sigma", "Σ"},
    Sign{"Lambda", "Λ"}, Sign{"Theta", "Θ"},   Sign{"Phi", "Φ"},    Sign{"Psi", "Ψ"},
    Sign{"Omega", "Ω"},  Sign{"inf", "∞"}};

/// Longer ones first: "||" before "|" would be one of them.
constexpr std::array kSigns = {Sign{"<=", "≤"}, Sign{">=", "≥"}, Sign{"->", "→"},
                               Sign{"<-", "←"}, Sign{"||", "‖"}, Sign{"+-", "±"}};

constexpr std::array kRaised = {Sign{"0", "⁰"}, Sign{"1", "¹"}, Sign{"2", "²"}, Sign{"3", "³"},
                                Sign{"4", "⁴"}, Sign{"5", "⁵"}, Sign{"6", "⁶"}, Sign{"7", "⁷"},
                                Sign{"8", "⁸"}, Sign{"9", "⁹"}, Sign{"-", "⁻"}, Sign{"T", "ᵀ"},
                                Sign{"n", "ⁿ"}, Sign{"+", "⁺"}};
constexpr std::array kLowered = {Sign{"0", "₀"}, Sign{"1", "₁"}, Sign{"2", "₂"}, Sign{"3", "₃"},
                                 Sign{"4", "₄"}, Sign{"5", "₅"}, Sign{"6", "₆"}, Sign{"7", "₇"},
                                 Sign{"8", "₈"}, Sign{"9", "₉"}, Sign{"i", "ᵢ"}, Sign{"j", "ⱼ"},
                                 Sign{"t", "ₜ"}, Sign{"k", "ₖ"}, Sign{"n", "ₙ"}};

template <std::size_t N>
std::optional<View> find(const std::array<Sign, N>& signs, View word) {
  for (const Sign& sign : signs) {
    if (sign.word == word) return sign.sign;
  }
  return std::nullopt;
}

bool is_letter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_word(char c) { return is_letter(c) || is_digit(c) || c == '_'; }

/// Names and code: a text between spaces that is not touched.
bool is_code(View chunk) {
  if (chunk.starts_with("--") || chunk.find('`') != View::npos) return true;
  for (std::size_t i = 1; i + 1 < chunk.size(); ++i) {
    const char before = chunk[i - 1], after = chunk[i + 1];
    if (chunk[i] == '=' && is_word(before) && (is_word(after) || after == '-')) return true;
    // A path or a file: letters around a slash that is no fraction, or an extension.
    const bool between = is_letter(before) && is_letter(after);
    if (chunk[i] == '/' && between && chunk.size() > 8 && chunk.find('^') == View::npos)
      return true;
    if (chunk[i] == '.' && is_word(before) && is_letter(after)) return true;
    if (chunk[i] == '_' && i >= 2 && is_letter(before) && is_letter(chunk[i - 2])) {
      std::size_t start = i;
      while (start > 0 && is_letter(chunk[start - 1])) --start;
      if (!find(kGreek, chunk.substr(start, i - start))) return true;
    }
  }
  return false;
}

std::size_t run_of(View text, std::size_t from, bool (*belongs)(char)) {
  std::size_t end = from;
  while (end < text.size() && belongs(text[end])) ++end;
  return end;
}

/// What stands behind ^ or _: its text, and where it ends.
struct Script {
  View text;
  std::size_t end;
};

std::optional<Script> script_at(View text, std::size_t at, std::size_t longest) {
  if (at >= text.size()) return std::nullopt;
  const char open = text[at];
  if (open == '{' || (open == '(' && longest > 3)) {
    const std::size_t close = text.find(open == '{' ? '}' : ')', at);
    if (close == View::npos || close == at + 1) return std::nullopt;
    return Script{text.substr(at + 1, close - at - 1), close + 1};
  }
  const std::size_t first = text[at] == '-' ? at + 1 : at;
  const std::size_t end = run_of(text, first, [](char c) { return is_letter(c) || is_digit(c); });
  if (end == first || end - first > longest || (end < text.size() && text[end] == '_')) {
    return std::nullopt;
  }
  return Script{text.substr(at, end - at), end};
}

/// Letters are variables, words of Greek letters the letters, the rest numbers and operators.
std::string math_row(View text) {
  std::string row;
  for (std::size_t i = 0; i < text.size();) {
    if (is_letter(text[i])) {
      const std::size_t end = run_of(text, i, is_letter);
      if (const auto greek = find(kGreek, text.substr(i, end - i))) {
        row += "<mi>" + std::string(*greek) + "</mi>";
        i = end;
      } else {
        row += "<mi>" + std::string(1, text[i++]) + "</mi>";
      }
    } else if (is_digit(text[i]) || text[i] == '.') {
      const std::size_t end = run_of(text, i, [](char c) { return is_digit(c) || c == '.'; });
      row += "<mn>" + std::string(text.substr(i, end - i)) + "</mn>";
      i = end;
    } else {
      const char c = text[i++];
      if (c == ' ') continue;
      row += c == '-'    ? std::string("<mo>−</mo>")
             : c == '\'' ? std::string("<mo>′</mo>")
                         : "<mo stretchy=\"false\">" + html_escaped(std::string(1, c)) + "</mo>";
    }
  }
  return "<mrow>" + row + "</mrow>";
}

/// The same with raised or lowered characters; nothing if one of them has none.
template <std::size_t N>
std::optional<std::string> shifted(View text, const std::array<Sign, N>& signs) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto sign = find(signs, text.substr(i, 1));
    if (!sign) return std::nullopt;
    out += *sign;
  }
  return out;
}

class Setter {
 public:
  Setter(View text, bool as_html) : text_(text), as_html_(as_html) {}

  std::string set() {
    while (at_ < text_.size()) {
      if (starts_chunk() && skip_code()) continue;
      if (number() || atom() || sign()) continue;
      if (as_html_ && text_.substr(at_, 2) == " %" && is_digit(before())) {
        out_ += kNoBreak;  // 50 % stays on one line
      } else {
        put(text_.substr(at_, 1));
      }
      ++at_;
    }
    return std::move(out_);
  }

 private:
  void put(View plain) { out_ += as_html_ ? html_escaped(plain) : std::string(plain); }
  [[nodiscard]] char before() const { return at_ == 0 ? ' ' : text_[at_ - 1]; }
  [[nodiscard]] char next(std::size_t at) const { return at < text_.size() ? text_[at] : ' '; }
  [[nodiscard]] bool starts_chunk() const { return before() == ' ' && text_[at_] != ' '; }

  bool skip_code() {
    const View chunk = text_.substr(at_, std::min(text_.find(' ', at_), text_.size()) - at_);
    if (!is_code(chunk)) return false;
    // What is quoted with spaces in it ends with its second backtick.
    std::size_t end = at_ + chunk.size();
    const std::size_t quote = text_.find('`', at_);
    if (quote < end) {
      const std::size_t close = text_.find('`', quote + 1);
      if (close != View::npos && close >= end) end = close + 1;
    }
    put_code(text_.substr(at_, end - at_));
    at_ = end;
    return true;
  }

  /// What stands between backticks is code on the page, which needs none of them.
  void put_code(View text) {
    const std::size_t open = text.find('`');
    const std::size_t close = open == View::npos ? open : text.find('`', open + 1);
    if (!as_html_ || close == View::npos) return put(text);
    put(text.substr(0, open));
    out_ += "<code>" + html_escaped(text.substr(open + 1, close - open - 1)) + "</code>";
    put_code(text.substr(close + 1));
  }

  /// 1e-05 is 10⁻⁵ and 2.5e7 is 2.5·10⁷.
  bool number() {
    if (!is_digit(text_[at_]) || is_word(before()) || before() == '.') return false;
    const std::size_t e = run_of(text_, at_, [](char c) { return is_digit(c) || c == '.'; });
    if (next(e) != 'e') return false;
    const std::size_t first = next(e + 1) == '-' || next(e + 1) == '+' ? e + 2 : e + 1;
    const std::size_t end = run_of(text_, first, is_digit);
    if (end == first || is_word(next(end))) return false;
    std::string power(text_.substr(first, end - first));
    power.erase(0, std::min(power.find_first_not_of('0'), power.size() - 1));
    if (next(e + 1) == '-') power.insert(0, "-");
    const View digits = text_.substr(at_, e - at_);
    if (digits != "1") out_ += std::string(digits) + "·";
    out_ += "10" + *shifted(power, kRaised);
    at_ = end;
    return true;
  }

  /// A letter, a Greek letter, a bracket that closes, with what is raised and lowered.
  bool atom() {
    const char c = text_[at_];
    const bool closes = c == ')' || c == '|' || c == ']';
    if (!closes && (!is_letter(c) || is_word(before()))) return false;
    const std::size_t end = closes ? at_ + 1 : run_of(text_, at_, is_letter);
    const View word = text_.substr(at_, end - at_);
    const auto greek = closes ? std::nullopt : find(kGreek, word);
    if (word == "sqrt" && next(end) == '(') return replace(end, "√");
    if (word == "int" && next(end) == ' ' && next(end + 1) == 'E') return replace(end + 1, "∫ ");
    if (word == "grad" && next(end) == ' ' &&
        (before() == '|' || before() == '-' || (next(end + 1) == 'f' && !is_word(next(end + 2))))) {
      return replace(end + 1, "∇");
    }
    // A word is no variable, unless it is transposed or squared.
    const bool is_name = next(end) == '^' && (next(end + 1) == 'T' || next(end + 1) == '2') &&
                         !is_word(next(end + 2));
    if (!closes && !greek && word.size() > 1 && !is_name) {
      put(word);
      at_ = end;
      return true;
    }
    if (word == "inf" && !(before() == ' ' || before() == '_')) return false;
    std::size_t after = end;
    View primes;
    if (!closes) {
      after = run_of(text_, end, [](char p) { return p == '\''; });
      // A quotation that ends, not a prime.
      if (after > end && is_word(next(after))) after = end;
      primes = text_.substr(end, after - end);
    }
    std::optional<Script> sub, sup;
    if (next(after) == '_' && !closes) sub = script_at(text_, after + 1, 3);
    std::size_t done = sub ? sub->end : after;
    if (next(done) == '^') sup = script_at(text_, done + 1, 8);
    if (sup) done = sup->end;
    if (!sub && !sup) {
      if (closes || (!greek && primes.empty())) return false;
      if (next(after) == '_') return false;  // a name
      if (is_digit(next(end))) return false;
      out_ += greek ? std::string(*greek) : std::string(word);
      for (std::size_t i = 0; i < primes.size(); ++i) out_ += "′";
      at_ = after;
      return true;
    }
    at_ = done;
    scripted(greek ? *greek : word, closes, primes, sub, sup);
    return true;
  }

  bool replace(std::size_t end, View with) {
    out_ += with;
    at_ = end;
    return true;
  }

  void scripted(View base, bool closes, View primes, const std::optional<Script>& sub,
                const std::optional<Script>& sup) {
    if (!as_html_) {
      out_ += base;
      for (std::size_t i = 0; i < primes.size(); ++i) out_ += "′";
      if (sub) out_ += shifted(sub->text, kLowered).value_or("_" + std::string(sub->text));
      if (sup) out_ += shifted(sup->text, kRaised).value_or("^" + typeset_text(sup->text));
      return;
    }
    std::string raised(primes);
    if (sup) raised += sup->text;
    const std::string inner = closes ? "<mo stretchy=\"false\">" + html_escaped(base) + "</mo>"
                                     : "<mi>" + std::string(base) + "</mi>";
    const bool both = sub && !raised.empty();
    const View tag = both ? "msubsup" : sub ? "msub" : "msup";
    out_ += "<math><" + std::string(tag) + ">" + inner;
    if (sub) out_ += math_row(sub->text);
    if (!raised.empty()) out_ += math_row(raised);
    out_ += "</" + std::string(tag) + "></math>";
  }

  bool sign() {
    for (const Sign& sign : kSigns) {
      if (text_.substr(at_).starts_with(sign.word))
        return replace(at_ + sign.word.size(), sign.sign);
    }
    return false;
  }

  View text_;
  bool as_html_;
  std::size_t at_ = 0;
  std::string out_;
};

}  // namespace

std::string typeset_html(std::string_view text) { return Setter(printable(text), true).set(); }

namespace {

template <class... Parts>
bool is_one_of(const Text::Part& part) {
  return (std::holds_alternative<Parts>(part) || ...);
}

/// What stands between a formula and its number stays on their line: epsilon <= 3, delta = 1e-5.
bool joins(const std::vector<Text::Part>& parts, std::size_t at) {
  if (at == 0 || at + 1 >= parts.size() || !std::holds_alternative<Maths>(parts[at - 1]))
    return false;
  const std::string& words = std::get<Words>(parts[at]).words;
  const bool is_sign = words == " " || words == " = " || words == " ~ ";
  return is_sign && is_one_of<ClaimedNumber, InputNumber>(parts[at + 1]);
}

/// With spaces at which no line ends.
std::string unbroken(const std::string& html) {
  std::string kept;
  for (const char c : html) kept += c == ' ' ? std::string(kNoBreak) : std::string(1, c);
  return kept;
}

}  // namespace

std::string typeset_html(const Text& text) {
  const std::vector<Text::Part>& parts = text.parts();
  std::string html;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    html += std::visit(
        Overloaded{[&](const Words& of) {
                     return joins(parts, i) ? unbroken(html_text(of.words)) : html_text(of.words);
                   },
                   [](const Unmarked& of) { return typeset_html(of.words); },
                   [](const Maths& of) { return typeset_html(of.formula); },
                   [](const KeyName& of) { return html_text(Text().add(of).plain()); },
                   [](const GivenName& of) { return html_text(of.name); },
                   [](const More& of) { return html_text(Text().add(of).plain()); },
                   [](const VerdictWord& of) { return html_text(of.words); },
                   [](const Percent& of) { return html_text(of.digits) + kNoBreak + "%"; },
                   [](const auto& number) { return typeset_html(Text().add(number).plain()); }},
        parts[i]);
  }
  return html;
}

std::string typeset_text(std::string_view text) { return Setter(printable(text), false).set(); }

}  // namespace sfumato
