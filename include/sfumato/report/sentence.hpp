#pragma once

#include <concepts>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "sfumato/core/claim.hpp"
#include "sfumato/report/number.hpp"

namespace sfumato {

/// Words that hold no mathematics and no key.
struct Words {
  std::string words;
};
/// A key of a question, which each front end calls in its own way: --ridge, ridge=, `ridge`.
struct KeyName {
  std::string key;
};
/// What somebody called something, `isotropic_per_layer` or a file: it keeps its letters where a sentence begins with it.
struct GivenName {
  std::string name;
};
/// A formula or a symbol in ASCII, which pages set: s^T Sigma^{-1} s, D'.
struct Maths {
  std::string formula;
};
/// A number with its claim, which is rounded towards it where it is printed.
struct ClaimedNumber {
  Claimed<double> value;
  NumberStyle style = NumberStyle::general;
  int digits = 0;  ///< 0: as many as tables show
};
/// A number that is exact by nature: a time, a requested epsilon.
struct InputNumber {
  double value;
};
/// A percentage, rounded already: 75.1 %, on one line.
struct Percent {
  std::string digits;
};
/// In capitals at the beginning of a verdict, what it comes to: NOT REFUTED. Terminals colour it.
struct VerdictWord {
  std::string words;
};
/// Words of a document that was read from JSON, or of a statement of the paper, which mark no mathematics: pages have to
/// recognise it.
struct Unmarked {
  std::string words;
};

/// What shows more of an answer, which each front end has its own way for: --full, .text(full=True).
enum class More {
  all,    ///< everything, as text
  page,   ///< with figures
  json,   ///< for programs
  table,  ///< all rows
};

/// How a front end calls the keys of its questions, and what shows more.
enum class KeyStyle {
  option,   ///< --ridge
  keyword,  ///< ridge=
  code,     ///< `ridge`
};

/// What statements are made of: parts that know what they are until a renderer prints them, so that nothing has to
/// search, cut or capitalise text.
class Text {
 public:
  using Part = std::variant<Words, KeyName, GivenName, Maths, ClaimedNumber, InputNumber, Percent,
                            VerdictWord, More, Unmarked>;

  Text() = default;
  /// Words alone: mathematics, keys and numbers are parts of their own, which say() puts between words.
  Text(std::string words) { add(Words{std::move(words)}); }
  Text(std::string_view words) : Text(std::string(words)) {}
  Text(const char* words) : Text(std::string(words)) {}

  Text& add(Part part);
  Text& operator+=(const Text& more);

  [[nodiscard]] const std::vector<Part>& parts() const { return parts_; }
  [[nodiscard]] bool empty() const { return parts_.empty(); }
  /// In ASCII, numbers rounded towards their claims: for terminals and JSON.
  [[nodiscard]] std::string plain(KeyStyle keys = KeyStyle::option) const;

 private:
  std::vector<Part> parts_;
};

namespace detail {
/// The words before, between and behind the places {} of a pattern.
[[nodiscard]] std::vector<std::string> words_around(std::string_view pattern, std::size_t places);

inline Text text_of(Text text) { return text; }
inline Text text_of(std::string words) { return Text().add(Words{std::move(words)}); }
inline Text text_of(std::string_view words) { return text_of(std::string(words)); }
inline Text text_of(const char* words) { return text_of(std::string(words)); }
inline Text text_of(double input) { return Text().add(InputNumber{input}); }
template <std::integral T>
requires(!std::same_as<T, bool> && !std::same_as<T, char>) Text text_of(T count) {
  return text_of(std::to_string(count));
}
template <class T>
requires(std::same_as<T, Words> || std::same_as<T, KeyName> || std::same_as<T, GivenName> ||
         std::same_as<T, Maths> || std::same_as<T, ClaimedNumber> || std::same_as<T, Percent> ||
         std::same_as<T, VerdictWord> || std::same_as<T, More>) Text text_of(T part) {
  return Text().add(std::move(part));
}
}  // namespace detail

/// A sentence: the words of `pattern` with a part, a text, words, a count or an exact number in place of each {}.
/// Throws   InternalError if there are not as many places as parts.
template <class... T>
[[nodiscard]] Text say(std::string_view pattern, T... parts) {
  const std::vector<std::string> words = detail::words_around(pattern, sizeof...(parts));
  Text text = detail::text_of(words.front());
  std::size_t next = 1;
  ((text += detail::text_of(std::move(parts)), text += detail::text_of(words[next++])), ...);
  return text;
}

/// "a", "a and b", "a, b and c".
[[nodiscard]] Text listed(const std::vector<Text>& items);

}  // namespace sfumato
