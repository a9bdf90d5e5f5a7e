#include "lab/audit/ledger_brief.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "lab/audit/claims.hpp"
#include "lab/audit/controls.hpp"
#include "lab/audit/evidence_tables.hpp"

namespace sfumato::lab {
namespace {

constexpr std::size_t kMostSentences =
    3;  // verdicts in words; more are counted, and are in a table
constexpr std::size_t kMostRows = 10;

struct PolicyClaim {
  const std::string* policy;
  const ClaimCheck* check;
};

/// The worst first.
std::vector<PolicyClaim> claims_of(const LedgerAudit& audit) {
  std::vector<PolicyClaim> claims;
  for (const PolicyAudit& policy : audit.policies) {
    if (policy.control) continue;
    for (const ClaimCheck& check : policy.claims) claims.push_back({&policy.policy, &check});
  }
  std::stable_sort(claims.begin(), claims.end(), [](const PolicyClaim& a, const PolicyClaim& b) {
    return a.check->verdict() > b.check->verdict();
  });
  return claims;
}

/// The number without method and confidence, which the verdicts say.
template <class T>
Claimed<T> bare(const Claimed<T>& claimed) {
  return {claimed.value, claimed.claim};
}

void state_left_out(Document& document, std::size_t rows) {
  if (rows <= kMostRows) return;
  document.state(StatementKind::info, fmt::format("{} more rows with --full.", rows - kMostRows));
}

void add_claims(Document& document, const std::vector<PolicyClaim>& claims) {
  Table table("claims", "Claims",
              {{"policy", "policy"},
               {"claim", "claim"},
               {"outcome", "outcome"},
               {"shown", "shown eps"},
               {"maximum", "maximum"}},
              2);
  for (std::size_t i = 0; i < std::min(kMostRows, claims.size()); ++i) {
    const ClaimCheck& check = *claims[i].check;
    table.add_row({*claims[i].policy, guarantee_text(check.claim), outcome_text(check.outcome),
                   bare(check.found), Claimed<double>{check.maximum, Claim::exact}});
  }
  document.add(std::move(table));
  state_left_out(document, claims.size());
}

void state_claims(Document& document, const std::vector<PolicyClaim>& claims) {
  if (claims.size() <= kMostSentences) {
    for (const PolicyClaim& of : claims)
      state_claim(document, *of.check, *of.policy, Detail::brief);
    return;
  }
  const auto count = [&](Verdict verdict) {
    return std::count_if(claims.begin(), claims.end(),
                         [&](const PolicyClaim& of) { return of.check->verdict() == verdict; });
  };
  const Verdict worst = claims.front().check->verdict();
  const char* word = worst == Verdict::violated ? "VIOLATION"
                     : worst == Verdict::open   ? "OPEN"
                                                : "NOT REFUTED";
  document.state(StatementKind::verdict,
                 fmt::format("{}: of {} claims, {} are violated, {} undecided and {} not refuted.",
                             word, claims.size(), count(Verdict::violated), count(Verdict::open),
                             count(Verdict::not_refuted)),
                 outcome_of(worst));
  add_claims(document, claims);
}

/// What a policy shows at the audit's first delta, from both sides where the other is known.
void add_policies(Document& document, const LedgerAudit& audit) {
  const double at = audit.deltas.front();
  std::vector<const TwoSided*> sides;  // by policy; nullptr for shadow models
  bool proven = false, path_kl = false;
  for (const PolicyAudit& policy : audit.policies) {
    sides.push_back(policy.quantities().empty() ? nullptr : &policy.quantities().front());
    if (sides.back() == nullptr) continue;
    proven = proven || sides.back()->proven.has_value();
    path_kl = path_kl || sides.back()->path_kl.has_value();
  }
  std::vector<Column> columns = {{"policy", "policy"}};
  if (proven) columns.push_back({"proven", "proven"});
  if (path_kl) columns.push_back({"path_kl", "path KL"});
  columns.push_back({"audited", "these models show"});
  columns.push_back({"maximum", "maximum"});
  Table table("epsilon", quantity_text(AuditedQuantity::epsilon, at), columns);
  const auto side = [](const std::optional<Claimed<double>>& value) {
    return value ? Cell(bare(*value)) : Cell(Empty{});
  };
  for (std::size_t p = 0; p < std::min(kMostRows, audit.policies.size()); ++p) {
    const PolicyAudit& policy = audit.policies[p];
    std::vector<Cell> row = {label_of(policy)};
    if (proven) row.push_back(side(sides[p]->proven));
    if (path_kl) row.push_back(side(sides[p]->path_kl));
    const std::optional<Claimed<Epsilon>> shown = policy.epsilon(Delta(at));
    const std::optional<double> maximum = policy.maximum(Delta(at));
    row.push_back(shown ? Cell(bare(*shown)) : Cell(Empty{"the models allow no audit"}));
    row.push_back(maximum ? Cell(Claimed<double>{*maximum, Claim::exact}) : Cell(Empty{}));
    table.add_row(std::move(row));
  }
  document.add(std::move(table));
  state_left_out(document, audit.policies.size());
}

}  // namespace

void add_brief(Document& document, const LedgerAudit& audit) {
  for (const PolicyAudit& policy : audit.policies) {
    const std::span<const TwoSided> sides = policy.quantities();
    const auto contradiction = std::find_if(
        sides.begin(), sides.end(), [](const TwoSided& of) { return of.contradicts_proof(); });
    if (contradiction == sides.end()) continue;
    state_contradiction(document, *contradiction, policy.policy, audit.options.confidence);
  }
  const std::vector<PolicyClaim> claims = claims_of(audit);
  if (!claims.empty()) state_claims(document, claims);
  state_controls(document, audit);
  if (audit.verdict == Verdict::none && audit.policies.size() == 1 &&
      !audit.policies.front().control) {
    const PolicyAudit& only = audit.policies.front();
    const Delta delta(audit.deltas.front());
    if (const auto shown = only.epsilon(delta)) {
      document.state(StatementKind::info,
                     shown_text(*shown, only.maximum(delta).value(), delta, only.policy));
    }
  }
  if (claims.size() <= kMostSentences) add_policies(document, audit);
}

}  // namespace sfumato::lab
