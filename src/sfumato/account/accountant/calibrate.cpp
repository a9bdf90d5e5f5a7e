#include "sfumato/account/accountant/calibrate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/math/tools/toms748_solve.hpp>
#include <cmath>
#include <limits>

#include "sfumato/account/accountant/accountant.hpp"
#include "sfumato/account/steps/step.hpp"
#include "sfumato/core/error.hpp"
#include "sfumato/core/infinity.hpp"
#include "sfumato/core/overloaded.hpp"

namespace sfumato {
namespace {

/// The noise for larger ones is below what is searched.
constexpr double kLargestTarget = 1e9;
constexpr std::uint64_t kMostSteps = std::uint64_t{1} << 53;

[[noreturn]] void refuse(const char* key, const std::string& problem, const std::string& remedy) {
  throw InvalidArgument(problem, remedy, Where::key(key));
}

void require_reachable(const PrivacyTarget& target) {
  std::visit(
      Overloaded{
          [](const PrivacyBudget& budget) {
            const double delta = budget.delta.probability();
            if (!(delta > 0.0 && delta < 1.0)) {
              refuse("target_delta", fmt::format("target_delta = {} is not in (0, 1)", delta),
                     "Pass a small probability, below one over the number of records");
            }
            if (!std::isfinite(budget.epsilon.nats())) {
              refuse("target_epsilon", "target_epsilon is infinite", "Pass a finite number");
            }
            if (budget.epsilon.nats() > kLargestTarget) {
              refuse("target_epsilon", fmt::format("{} protects nothing", budget.epsilon.nats()),
                     fmt::format("Pass at most {:g}; 10 is already little protection",
                                 kLargestTarget));
            }
          },
          [](const AdvantageLimit& limit) {
            if (limit.advantage > 0.0 && limit.advantage < 1.0) return;
            refuse("target_advantage",
                   fmt::format("target_advantage = {} is not in (0, 1)", limit.advantage),
                   "Pass the largest advantage that you accept");
          },
          [](const RateLimit& limit) {
            if (limit.fpr >= 0.0 && limit.fpr < limit.tpr && limit.tpr <= 1.0) return;
            refuse("target_tpr",
                   fmt::format("a TPR of {} at an FPR of {} cannot be asked for", limit.tpr,
                               limit.fpr),
                   "Pass at_fpr < target_tpr <= 1: guessing alone gives a TPR equal to the FPR");
          },
          [](const GdpLimit& limit) {
            if (std::isfinite(limit.mu) && limit.mu > 0.0) return;
            refuse("target_mu",
                   fmt::format("target_mu = {} is not a finite positive number", limit.mu),
                   "Pass the mu that you accept");
          }},
      target);
}

/// log(what is proven / what is allowed): at most 0 where the target is met.
double excess(const Accountant& accountant, const PrivacyTarget& target) {
  const auto log_ratio = [](double found, double allowed) {
    if (found == 0.0) return -kInf;
    const double excess = std::log(found) - std::log(allowed);
    // A number above the limit is above it, also where the logarithms are equal.
    return found > allowed ? std::max(excess, std::numeric_limits<double>::min())
                           : std::min(excess, 0.0);
  };
  return std::visit(
      Overloaded{[&](const PrivacyBudget& budget) {
                   return log_ratio(accountant.delta(budget.epsilon).upper.value,
                                    budget.delta.probability());
                 },
                 [&](const AdvantageLimit& limit) {
                   return log_ratio(accountant.advantage().upper.value, limit.advantage);
                 },
                 [&](const RateLimit& limit) {
                   return log_ratio(accountant.tpr_bound(limit.fpr).value, limit.tpr);
                 },
                 [&](const GdpLimit& limit) {
                   const auto mu = gdp_mu(accountant.releases());
                   if (!mu) {
                     refuse("target_mu", "only Gaussian noise has a mu", "Use target_epsilon");
                   }
                   return log_ratio(mu->value, limit.mu);
                 }},
      target);
}

Accountant watched(const PrivateReleases& releases, const Observer* observer) {
  const Accountant accountant(releases);
  return observer == nullptr ? accountant : accountant.watched_by(*observer);
}

}  // namespace

double* multiplier_of(Mechanism& mechanism) {
  return with_rules(mechanism, [](auto rules, auto& m) { return rules.multiplier(m); });
}

bool meets(const PrivateReleases& releases, const PrivacyTarget& target) {
  return excess(Accountant(releases), target) <= 0.0;
}

std::optional<Claimed<double>> gdp_mu(const PrivateReleases& releases) {
  double squares = 0.0;
  for (const PrivateRelease& release : releases.list) {
    require_accountable(release, releases.relation, releases.group_size);
    const ReleaseSetting setting{release, releases.relation, releases.group_size};
    const std::optional<double> mu = with_rules(
        release.mechanism, [&](auto rules, const auto& m) { return rules.gdp_mu(m, setting); });
    if (!mu) return std::nullopt;
    if (release.steps > 0) squares += setting.steps() * *mu * *mu;
  }
  return Claimed<double>{std::sqrt(squares) * (1.0 + 1e-14), Claim::upper_bound,
                         "Gaussian privacy of the steps without sampling"};
}

double least_noise(const PrivateReleases& before, const std::vector<PrivateRelease>& runs,
                   const PrivacyTarget& target, const Observer* observer) {
  require_reachable(target);
  const auto with = [&](double factor) {
    PrivateReleases all = before;
    for (PrivateRelease run : runs) {
      double* noise = multiplier_of(run.mechanism);
      if (noise == nullptr) {
        refuse("mechanism",
               fmt::format("a release of the kind {} has no noise to change", name(run.mechanism)),
               "Put it among what was released before");
      }
      *noise *= factor;
      all.list.push_back(run);
    }
    return all;
  };
  const auto above = [&](double factor) { return excess(watched(with(factor), observer), target); };
  if (excess(watched(before, observer), target) > 0.0) {
    refuse("target_epsilon", "what was released before exceeds the target already",
           "Allow more; no noise can take back what is known");
  }
  if (above(0.0) <= 0.0) return 0.0;
  constexpr double kLeast = 1e-6, kMost = 1e9;
  double low = 1.0, high = 1.0, f_high = above(1.0), f_low = f_high;
  while (f_high > 0.0) {
    if (high >= kMost) {
      if (before.list.empty()) {
        refuse("target_epsilon", "no noise up to a billion times the clip meets the target",
               "Allow more, or release less");
      }
      refuse("target_epsilon", "no amount of noise meets the target",
             "Other releases use it up: allow more, or release less");
    }
    low = high;
    f_low = f_high;
    high *= 2.0;
    f_high = above(high);
  }
  while (f_low <= 0.0) {
    if (low <= kLeast) return low;
    high = low;
    f_high = f_low;
    low *= 0.5;
    f_low = above(low);
  }
  // The search needs finite numbers; where nothing is revealed at all, one below every target stands for -inf.
  const auto finite = [&](double log_factor) {
    return std::max(above(std::exp(log_factor)), -1e6);
  };
  std::uintmax_t most = 200;
  const auto bracket = boost::math::tools::toms748_solve(
      finite, std::log(low), std::log(high), std::min(f_low, 1e6), std::max(f_high, -1e6),
      [](double a, double b) { return std::fabs(b - a) <= 1e-10; }, most);
  double factor = std::exp(bracket.second);
  while (above(factor) > 0.0) factor *= 1.0 + 1e-11;  // rounding of the exponential
  // The factor was found by delta at the target. Epsilon at delta is enclosed by itself, and may lie above the target by its own rounding
  // (1e-13): a little more noise, and whoever asks for it finds the target.
  if (const auto* budget = std::get_if<PrivacyBudget>(&target)) {
    const double least = factor;
    const auto epsilon = [&] {
      return watched(with(factor), observer).epsilon(budget->delta).upper.value;
    };
    for (double more = 1e-13; more < 1e-6 && epsilon() > budget->epsilon.nats(); more *= 10.0) {
      factor = least * (1.0 + more);
    }
  }
  return factor;
}

std::uint64_t most_steps(const PrivateReleases& before, const PrivateRelease& step,
                         const PrivacyTarget& target, const Observer* observer) {
  require_reachable(target);
  const auto fits = [&](std::uint64_t steps) {
    PrivateReleases all = before;
    all.list.push_back(step);
    all.list.back().steps = steps;
    return excess(watched(all, observer), target) <= 0.0;
  };
  std::uint64_t low = 0, high = 1;
  while (fits(high)) {
    low = high;
    if (high == kMostSteps) return kMostSteps;
    high *= 2;
  }
  while (high - low > 1) {
    const std::uint64_t middle = low + (high - low) / 2;
    (fits(middle) ? low : high) = middle;
  }
  return low;
}

std::uint64_t least_batches(const PrivateReleases& before, const PrivateRelease& epochs,
                            const PrivacyTarget& target, const Observer* observer) {
  require_reachable(target);
  const auto fits = [&](std::uint64_t batches) {
    PrivateReleases all = before;
    all.list.push_back(epochs);
    all.list.back().batches = std::max(batches, epochs.turns);
    return excess(watched(all, observer), target) <= 0.0;
  };
  // delta falls with the number of batches (Spec §28.3).
  constexpr std::uint64_t kMostBatches = std::uint64_t{1} << 24;
  std::uint64_t low = epochs.turns - 1, high = epochs.turns;
  while (!fits(high)) {
    if (high >= kMostBatches) {
      refuse("target_epsilon", "no number of batches meets the target with this noise",
             "Add noise, train for fewer epochs, or allow more");
    }
    low = high;
    high *= 2;
  }
  while (high - low > 1) {
    const std::uint64_t middle = low + (high - low) / 2;
    (fits(middle) ? high : low) = middle;
  }
  return high;
}

}  // namespace sfumato
