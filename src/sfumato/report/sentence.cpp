#include "sfumato/report/sentence.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sfumato/core/error.hpp"
#include "sfumato/core/overloaded.hpp"

namespace sfumato {
namespace {

std::string called(const std::string& key, KeyStyle style) {
  switch (style) {
    case KeyStyle::option: {
      std::string option = key;
      std::replace(option.begin(), option.end(), '_', '-');
      return "--" + option;
    }
    case KeyStyle::keyword: return key + "=";
    case KeyStyle::code: return fmt::format("`{}`", key);
  }
  throw InternalError("unknown style of keys");
}

std::string called(More what, KeyStyle style) {
  const bool python = style == KeyStyle::keyword;
  switch (what) {
    case More::all: return python ? ".text(full=True)" : "--full";
    case More::page: return python ? ".save(\"page.html\")" : "--report FILE.html";
    case More::json: return python ? ".to_json()" : "--json";
    case More::table: return python ? ".to_pandas()" : "--out FILE.csv";
  }
  throw InternalError("nothing shows that");
}

}  // namespace

Text& Text::add(Part part) {
  const auto* words = std::get_if<Words>(&part);
  const auto* unmarked = std::get_if<Unmarked>(&part);
  const bool nothing = (words != nullptr && words->words.empty()) ||
                       (unmarked != nullptr && unmarked->words.empty());
  if (!nothing) parts_.push_back(std::move(part));
  return *this;
}

Text& Text::operator+=(const Text& more) {
  parts_.insert(parts_.end(), more.parts_.begin(), more.parts_.end());
  return *this;
}

std::string Text::plain(KeyStyle keys) const {
  std::string text;
  for (const Part& part : parts_) {
    text += std::visit(
        Overloaded{
            [](const Words& of) { return of.words; },
            [&](const KeyName& of) { return called(of.key, keys); },
            [](const GivenName& of) { return of.name; }, [](const Maths& of) { return of.formula; },
            [](const ClaimedNumber& of) {
              return of.digits == 0
                         ? format_claimed(of.value, of.style)
                         : format_number(of.value.value, rounding_of(of.value.claim), of.digits);
            },
            [](const InputNumber& of) { return format_input(of.value); },
            [](const Percent& of) { return of.digits + " %"; },
            [&](const More& of) { return called(of, keys); },
            [](const VerdictWord& of) { return of.words; },
            [](const Unmarked& of) { return of.words; }},
        part);
  }
  return text;
}

std::vector<std::string> detail::words_around(std::string_view pattern, std::size_t places) {
  std::vector<std::string> words(1);
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] == '{' && i + 1 < pattern.size() && pattern[i + 1] == '}') {
      words.emplace_back();
      ++i;
    } else {
      words.back() += pattern[i];
    }
  }
  if (words.size() != places + 1) {
    throw InternalError(fmt::format("a sentence with {} places has {} parts: {}", words.size() - 1,
                                    places, pattern));
  }
  return words;
}

Text listed(const std::vector<Text>& items) {
  Text text;
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (i > 0) text.add(Words{i + 1 == items.size() ? " and " : ", "});
    text += items[i];
  }
  return text;
}

}  // namespace sfumato
