#include "sfumato/lab/study/proven_bounds.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "lab/nn/noise_policy.hpp"
#include "lab/study/convex_problem.hpp"
#include "lab/study/study_data.hpp"
#include "lab/study/training_guarantee.hpp"
#include "sfumato/account/accountant/calibrate.hpp"
#include "sfumato/lab/ledger/identity.hpp"

namespace sfumato::lab {
namespace {

/// The largest of view(pair), with the claim of an upper bound if there is a choice.
template <class View>
auto largest(const std::vector<ProvenRisk>& pairs, View&& view) {
  auto most = view(pairs.front());
  for (const ProvenRisk& pair : pairs) {
    auto found = view(pair);
    if (found.value > most.value) most = std::move(found);
  }
  if (pairs.size() > 1) {
    most.claim = Claim::upper_bound;
    most.method += fmt::format("; largest of these {} pairs", pairs.size());
  }
  return most;
}

std::vector<ProvenBounds> nothing(const Study& study, const std::string& reason) {
  return std::vector<ProvenBounds>(study.noise.size(), ProvenBounds(reason));
}

std::vector<ProvenBounds> network_bounds(const Study& study, const LedgerIdentity& identity) {
  std::vector<ProvenBounds> bounds;
  const auto is_private = [](const NoiseSpec& noise) { return noise.is_private(); };
  if (std::none_of(study.noise.begin(), study.noise.end(), is_private)) {
    for (const NoiseSpec& noise : study.noise) {
      bounds.emplace_back(what_a_guarantee_needs(noise.rule));
    }
    return bounds;
  }
  try {
    const StudySets sets = load_sets(study);
    const auto known = identity.checksums.find(sets.train.name);
    if (known != identity.checksums.end() && known->second != sets.train.checksum) {
      return nothing(study, "the data have changed since the models were trained");
    }
    const Network network = network_of(study.model, sets.train);
    const std::size_t slots = study.data.records == 0 ? sets.train.count() : study.data.records;
    for (const NoisePolicy& policy : policies_of(study, network)) {
      TrainingGuarantee found = training_guarantee(policy, network, study.train, slots,
                                                   relation_of(study.adjacency.kind));
      if (found.accountant) {
        bounds.emplace_back(std::move(*found.accountant));
      } else {
        bounds.emplace_back(std::move(found.reason));
      }
    }
    return bounds;
  } catch (const InvalidArgument& error) {  // the files are not there any more
    return nothing(study, fmt::format("the data cannot be read: {}", error.what()));
  }
}

}  // namespace

ProvenBounds::ProvenBounds(std::vector<ProvenRisk> pairs) : pairs_(std::move(pairs)) {
  for (const ProvenRisk& pair : pairs_) {
    if (!pair.risk && reason_.empty()) reason_ = pair.reason;
  }
}

Claimed<Epsilon> ProvenBounds::epsilon(Delta delta) const {
  if (accountant_) return accountant_->guarantee(delta).claimed_epsilon();
  return largest(pairs_, [&](const ProvenRisk& pair) { return pair.risk->epsilon(delta); });
}

Claimed<Delta> ProvenBounds::delta(Epsilon epsilon) const {
  if (accountant_) {
    const Claimed<double> upper = accountant_->delta(epsilon).upper;
    return {Delta(upper.value), upper.claim, upper.method, upper.assumptions};
  }
  return largest(pairs_, [&](const ProvenRisk& pair) { return pair.risk->delta(epsilon); });
}

std::optional<Claimed<double>> ProvenBounds::mu() const {
  if (accountant_) return gdp_mu(accountant_->releases());
  const bool all = std::all_of(pairs_.begin(), pairs_.end(),
                               [](const ProvenRisk& pair) { return pair.mu.has_value(); });
  if (!all) return std::nullopt;
  return largest(pairs_, [](const ProvenRisk& pair) { return *pair.mu; });
}

std::vector<ProvenBounds> proven_bounds(const Study& study, const LedgerIdentity& identity) {
  if (study.model.kind == ModelKind::network) return network_bounds(study, identity);
  std::vector<ProvenBounds> bounds;
  try {
    const ConvexProblem problem(study);
    for (const auto& [name, checksum] : problem.checksums()) {
      const auto known = identity.checksums.find(name);
      if (known != identity.checksums.end() && known->second == checksum) continue;
      return nothing(study, fmt::format("{} has changed since the models were trained", name));
    }
    const std::uint64_t draws =
        study.audit.pairs * (study.audit.random_pairs ? study.audit.replicas : 1);
    std::vector<std::vector<ProvenRisk>> risks(study.noise.size());
    for (std::uint64_t draw = 0; draw < draws; ++draw) {
      const ConvexPair pair = problem.pair(draw);
      for (std::size_t p = 0; p < risks.size(); ++p) {
        risks[p].push_back(proven_risk(pair, problem.step_noises()[p], study.train.iterations));
      }
    }
    for (std::vector<ProvenRisk>& pairs : risks) bounds.emplace_back(std::move(pairs));
    return bounds;
  } catch (const InvalidArgument& error) {  // the files are not there any more
    return nothing(study, fmt::format("the data cannot be read: {}", error.what()));
  }
}

}  // namespace sfumato::lab
