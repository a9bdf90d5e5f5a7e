#include "sfumato/lab/audit/two_sided.hpp"

#include <algorithm>

#include "sfumato/audit/canary_audit.hpp"

namespace sfumato::lab {
namespace {

constexpr double kRounding = 1e-9;  // of an exact view, which is rounded either way

Claimed<double> number(const Claimed<Epsilon>& claimed) {
  return map(claimed, [](Epsilon epsilon) { return epsilon.nats(); });
}
Claimed<double> number(const Claimed<Delta>& claimed) {
  return map(claimed, [](Delta delta) { return delta.probability(); });
}

bool above(double shown, const std::optional<Claimed<double>>& upper) {
  return upper && shown > upper->value * (1.0 + kRounding) + kRounding;
}

}  // namespace

bool TwoSided::contradicts_proof() const { return above(shown.value, proven); }
bool TwoSided::above_path_kl() const { return above(shown.value, path_kl); }

std::vector<TwoSided> two_sided(const Audit& audit, const ProvenBounds& proven,
                                const PathKl& path_kl, std::span<const double> deltas,
                                std::span<const double> epsilons) {
  std::vector<TwoSided> all;
  const auto add = [&](AuditedQuantity quantity, double at, const auto& shown) -> TwoSided& {
    all.push_back({quantity, at, {}, proven.reason(), {}, path_kl.reason, shown, {}});
    return all.back();
  };
  for (const double at : deltas) {
    const Delta delta(at);
    TwoSided& epsilon = add(AuditedQuantity::epsilon, at, number(audit.epsilon(delta)));
    if (proven.exist()) epsilon.proven = number(proven.epsilon(delta));
    if (path_kl.risk) epsilon.path_kl = number(path_kl.risk->epsilon(delta));
    epsilon.maximum = audit.maximum_epsilon(delta);
  }
  for (const double at : epsilons) {
    const Epsilon epsilon(at);
    TwoSided& delta = add(AuditedQuantity::delta, at, number(audit.delta(epsilon)));
    if (proven.exist()) delta.proven = number(proven.delta(epsilon));
    if (path_kl.risk) delta.path_kl = number(path_kl.risk->delta(epsilon));
  }
  TwoSided& mu = add(AuditedQuantity::mu, 0.0, audit.mu());
  if (proven.exist()) {
    mu.proven = proven.mu();
    mu.no_proof = "the distributions of D and D' are no Gaussian pair of one covariance";
  }
  mu.no_path_kl = "a KL gives no mu";
  return all;
}

std::vector<TwoSided> two_sided(std::span<const OneRunAudit> replicas, const ProvenBounds& proven,
                                std::span<const double> deltas) {
  const std::string no_path_kl = "coin flips chose the records, not D and D'";
  std::vector<TwoSided> all;
  for (const double at : deltas) {
    const OneRunAudit& best = best_replica(replicas, Delta(at));
    TwoSided epsilon{AuditedQuantity::epsilon,
                     at,
                     {},
                     proven.reason(),
                     {},
                     no_path_kl,
                     number(best.epsilon(Delta(at))),
                     best.maximum_epsilon(Delta(at))};
    if (proven.exist()) epsilon.proven = number(proven.epsilon(Delta(at)));
    all.push_back(std::move(epsilon));
  }
  TwoSided mu{AuditedQuantity::mu,   0.0, {}, proven.reason(), {}, no_path_kl,
              replicas.front().mu(), {}};
  for (const OneRunAudit& replica : replicas) {
    if (replica.mu().value > mu.shown.value) mu.shown = replica.mu();
  }
  if (proven.exist()) mu.proven = proven.mu();
  all.push_back(std::move(mu));
  return all;
}

}  // namespace sfumato::lab
