#include "sfumato/report/confidence.hpp"

#include <algorithm>
#include <cmath>

#include "sfumato/report/number.hpp"

namespace sfumato {

std::string format_confidence(double confidence) {
  // Three digits of the distance from 1, and no more than a double has.
  const double leading = confidence < 1.0 ? std::ceil(-std::log10(1.0 - confidence)) : 0.0;
  const int digits = std::clamp(static_cast<int>(leading) + 3, 6, 17);
  std::string text = format_number(confidence, Rounding::down, digits);
  if (text.find('.') != std::string::npos && text.find('e') == std::string::npos) {
    text.erase(text.find_last_not_of('0') + 1);
  }
  return text;
}

std::string format_confidence_percent(double confidence) {
  const std::string text = format_confidence(confidence);
  if (text.compare(0, 2, "0.") != 0) return format_input(100.0 * confidence);
  // The point is moved in the text: 100 times a double may be above it.
  std::string digits = text.substr(2);
  digits.resize(std::max<std::size_t>(digits.size(), 2), '0');
  const std::size_t first = digits.front() == '0' ? 1 : 0;
  std::string percent = digits.substr(first, 2 - first);
  if (digits.size() > 2) percent += "." + digits.substr(2);
  return percent;
}

}  // namespace sfumato
