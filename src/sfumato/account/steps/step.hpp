#pragma once

#include <type_traits>
#include <variant>

#include "sfumato/account/steps/allocated_gaussian.hpp"
#include "sfumato/account/steps/fixed_size_gaussian.hpp"
#include "sfumato/account/steps/gaussian_noise.hpp"
#include "sfumato/account/steps/group_gaussian.hpp"
#include "sfumato/account/steps/hidden_iterates.hpp"
#include "sfumato/account/steps/known_step.hpp"
#include "sfumato/account/steps/laplace.hpp"
#include "sfumato/account/steps/sampled_gaussian.hpp"
#include "sfumato/account/steps/truncated_poisson.hpp"

namespace sfumato {

/// Every kind of equal, independent steps that is accounted for. A new one is a pair of files with these members, and a name here:
///
///   k                       how many steps there are
///   require_valid()         throws InvalidArgument if a number is outside what its comment says
///   highest_loss()          of one step: +inf where it is not bounded
///   exchanged()             the same steps with P and Q exchanged
///   kind(), signals(), set_signals()   what must be equal of steps that are merged, and what delta grows with (Spec §20.6)
///   bounded()               the step between two that doubles can compute with (Spec §20.5)
///   expected_sampled()      steps that show a record, on average; +inf where they are on both sides, 0 where all do
///   contribution()          normal noise: how far apart outputs are (above some distance sampling no longer helps)
///   steepest()              by how much the loss may change where its distribution has one standard deviation, about
///   as_ratio()              the step by the ratio of densities at a normal z, where its loss is a function of it
///   tilted_distribution(s0, reach)   the distribution of the loss tilted by e^{s0 L}, on points good for |Im s| <= reach (Spec §18.1)
///   points(s0, reach)       about how many of them there are
///   moments()               instead of both, where there are no such points: what has M(s0 + iy) itself
///   log_bound_beyond()      how far |M(s0 + iy)| has decayed (Spec §18.3)
///   loss_distribution()              distribution functions of the loss of one step: for the lattice, and for one step alone
///   one_step_delta(eps)     a closed form of delta of one step where it keeps its digits (Spec §17.6); -highest < eps < highest
using StepLoss = std::variant<SampledGaussian, GroupGaussian, TwoSidedGaussian, LaplaceStep,
                              RandomisedResponse, TruncatedPoisson, AllocatedGaussian>;

/// Calls use(rules, mechanism) with the MechanismRules of a mechanism of releases.
template <class Any, class Use>
decltype(auto) with_rules(Any& any, Use&& use) {
  return std::visit(
      [&](auto& mechanism) -> decltype(auto) {
        return use(MechanismRules<std::remove_cvref_t<decltype(mechanism)>>{}, mechanism);
      },
      any);
}

/// How many steps there are of one kind.
[[nodiscard]] inline double count_of(const StepLoss& step) {
  return std::visit([](const auto& s) { return s.k; }, step);
}

/// The largest loss of one step: +inf where it is not bounded.
[[nodiscard]] inline double highest_loss(const StepLoss& step) {
  return std::visit([](const auto& s) { return s.highest_loss(); }, step);
}

/// The same steps with P and Q exchanged.
[[nodiscard]] inline StepLoss exchanged(const StepLoss& step) {
  return std::visit([](const auto& s) { return StepLoss(s.exchanged()); }, step);
}

/// Steps whose loss is no function of one number have M(s0 + iy) alone, and no distribution function.
template <class Step>
concept HasMoments = requires(const Step& step) {
  step.moments();
};
[[nodiscard]] inline bool has_distribution(const StepLoss& step) {
  return std::visit([]<class Step>(const Step&) { return !HasMoments<Step>; }, step);
}

/// Throws   InvalidArgument if the step has none.
[[nodiscard]] LossDistribution loss_distribution_of(const StepLoss& step);

/// Throws InvalidArgument if a number of the step is outside what its comment says.
inline void require_valid(const StepLoss& step) {
  std::visit([](const auto& s) { s.require_valid(); }, step);
  require_count(count_of(step));
}

}  // namespace sfumato
