#include "sfumato/audit/claim_check.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>

namespace sfumato {
namespace {

ClaimOutcome outcome_of(const ClaimedGuarantee& claim, Epsilon found, double maximum,
                        bool reversed) {
  if (found > claim.epsilon) return ClaimOutcome::violation;
  if (!(maximum > claim.epsilon.nats())) return ClaimOutcome::not_enough_runs;
  return reversed ? ClaimOutcome::wrong_way : ClaimOutcome::not_refuted;
}

}  // namespace

Verdict verdict_of(ClaimOutcome outcome) {
  switch (outcome) {
    case ClaimOutcome::violation: return Verdict::violated;
    case ClaimOutcome::not_enough_runs:
    case ClaimOutcome::wrong_way: return Verdict::open;
    case ClaimOutcome::not_refuted: return Verdict::not_refuted;
  }
  throw InternalError("an unknown outcome of a claim");
}

ClaimCheck check_claim(const Audit& audit, const ClaimedGuarantee& claim, bool reversed,
                       ClaimEvidence evidence) {
  const Claimed<Epsilon> found = audit.epsilon(claim.delta);
  const double maximum = audit.maximum_epsilon(claim.delta);
  return {claim,   outcome_of(claim, found.value, maximum, reversed), found,
          maximum, audit.runs_to_refute(claim.epsilon, claim.delta),  evidence};
}

ClaimCheck check_claim(const OneRunAudit& audit, const ClaimedGuarantee& claim, bool reversed) {
  const Claimed<Epsilon> found = audit.epsilon(claim.delta);
  const double maximum = audit.maximum_epsilon(claim.delta);
  return {claim, outcome_of(claim, found.value, maximum, reversed),
          found, maximum,
          {},    ClaimEvidence::canaries};
}

Verdict worst_of(std::span<const ClaimCheck> checks) {
  Verdict verdict = Verdict::none;
  for (const ClaimCheck& check : checks) verdict = worst(verdict, check.verdict());
  return verdict;
}

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
