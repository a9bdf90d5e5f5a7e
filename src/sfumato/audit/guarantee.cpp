#include "sfumato/audit/guarantee.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>

namespace sfumato {
namespace {

constexpr double kUsualDelta = 1e-5;  // of audits that are not told another

}  // namespace

std::optional<ClaimedGuarantee> parse_guarantee(std::string_view text) {
  std::optional<double> epsilon, delta;
  std::size_t begin = 0;
  while (begin <= text.size()) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const std::string_view part = text.substr(begin, end - begin);
    const std::size_t equals = part.find('=');
    if (equals == std::string_view::npos) return std::nullopt;
    const std::string_view key = part.substr(0, equals), value = part.substr(equals + 1);
    double number = 0.0;
    const auto [stop, error] = std::from_chars(value.data(), value.data() + value.size(), number);
    if (error != std::errc() || stop != value.data() + value.size()) return std::nullopt;
    std::optional<double>* target = key == "eps" || key == "epsilon" ? &epsilon
                                    : key == "delta"                 ? &delta
                                                                     : nullptr;
    if (target == nullptr || target->has_value()) return std::nullopt;
    *target = number;
    begin = end + 1;
  }
  if (!epsilon || !(std::isfinite(*epsilon) && *epsilon >= 0.0)) return std::nullopt;
  const double probability = delta.value_or(kUsualDelta);
  if (!(probability >= 0.0 && probability < 1.0)) return std::nullopt;
  return ClaimedGuarantee{Epsilon(*epsilon), Delta(probability)};
}

std::string guarantee_text(const ClaimedGuarantee& claim) {
  return fmt::format("eps={},delta={}", claim.epsilon.nats(), claim.delta.probability());
}

}  // namespace sfumato
