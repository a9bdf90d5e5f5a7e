#include "sfumato/privacy/risk.hpp"

#include <utility>

#include "sfumato/divergence/gaussian_hockey_stick.hpp"
#include "sfumato/divergence/gaussian_kl.hpp"
#include "sfumato/divergence/gaussian_tradeoff.hpp"
#include "sfumato/math/covariance.hpp"
#include "sfumato/privacy/kl_conversion.hpp"

namespace sfumato {
namespace {

constexpr bool is_forward(Direction direction) { return direction == Direction::forward; }

/// The better of a bound from the KL in one direction and one from the other.
template <class T>
Claimed<T> smaller(const Claimed<T>& a, const Claimed<T>& b) {
  return b.value < a.value ? b : a;
}

template <class T>
Claimed<T> larger(const Claimed<T>& a, const Claimed<T>& b) {
  Claimed<T> result = a.value < b.value ? b : a;
  // If either is only bounded above, so is their maximum.
  if (a.claim == Claim::upper_bound || b.claim == Claim::upper_bound) {
    result.claim = Claim::upper_bound;
  }
  return result;
}

/// A bound that follows from a KL inherits what the KL assumes.
template <class T>
Claimed<T> following(Claimed<T> bound, const Claimed<Nats>& kl) {
  bound.assumptions.insert(bound.assumptions.end(), kl.assumptions.begin(), kl.assumptions.end());
  return bound;
}

/// The views of laws whose rank was decided with a tolerance say so, as the KL does.
template <class T>
Claimed<T> of_pair(Claimed<T> view, const WhitenedPair& pair) {
  if (pair.used_rank_tolerance) view.assumptions.emplace_back(kRankAssumption);
  return view;
}

void require_upper(const Claimed<Nats>& kl) {
  if (kl.claim == Claim::exact || kl.claim == Claim::upper_bound) return;
  throw InvalidArgument("a KL that is only estimated or bounded below says nothing about the risk",
                        "Pass an exact KL or an upper bound", Where::in("Risk::from_kl"));
}

}  // namespace

std::string_view name(Direction direction) { return is_forward(direction) ? "D||D'" : "D'||D"; }

Risk Risk::exact(const WhitenedPair& pair) {
  Gaussian gaussian{pair, swapped(pair), {}, {}};
  if (!pair.mutually_singular) {
    gaussian.forward_loss = privacy_loss(gaussian.forward);
    gaussian.reverse_loss = privacy_loss(gaussian.reverse);
  }
  return Risk(std::move(gaussian));
}

Risk Risk::from_kl(Claimed<Nats> forward, Claimed<Nats> reverse) {
  require_upper(forward);
  require_upper(reverse);
  return Risk(Entropies{std::move(forward), std::move(reverse)});
}

Claimed<Nats> Risk::kl(Direction direction) const {
  return std::visit(
      Overloaded{[&](const Gaussian& g) {
                   return gaussian_kl(is_forward(direction) ? g.forward : g.reverse);
                 },
                 [&](const Entropies& e) { return is_forward(direction) ? e.forward : e.reverse; }},
      evidence_);
}

std::optional<Claimed<Nats>> Risk::renyi(Direction direction, double order) const {
  const auto* g = std::get_if<Gaussian>(&evidence_);
  if (g == nullptr) return std::nullopt;
  return gaussian_renyi(is_forward(direction) ? g->forward : g->reverse, order);
}

Claimed<double> Risk::advantage() const {
  return std::visit(
      Overloaded{
          [](const Gaussian& g) { return of_pair(gaussian_total_variation(g.forward), g.forward); },
          [](const Entropies& e) {
            return smaller(following(total_variation_from_kl(e.forward.value), e.forward),
                           following(total_variation_from_kl(e.reverse.value), e.reverse));
          }},
      evidence_);
}

Claimed<Delta> Risk::delta(Direction direction, Epsilon epsilon) const {
  return std::visit(
      Overloaded{[&](const Gaussian& g) -> Claimed<Delta> {
                   const char* method = "Gaussian hockey-stick, contour integral";
                   if (g.forward.mutually_singular) {
                     return of_pair<Delta>({Delta{1.0}, Claim::exact, "mutually singular laws"},
                                           g.forward);
                   }
                   const bool forward = is_forward(direction);
                   const HockeyStick h = gaussian_hockey_stick(
                       forward ? g.forward_loss : g.reverse_loss,
                       forward ? g.reverse_loss : g.forward_loss, epsilon.nats());
                   return of_pair<Delta>({Delta{h.delta}, h.claim, method}, g.forward);
                 },
                 [&](const Entropies& e) {
                   // KL(D||D') bounds both directions, and so does KL(D'||D): take the better.
                   const auto& own = is_forward(direction) ? e.forward : e.reverse;
                   const auto& other = is_forward(direction) ? e.reverse : e.forward;
                   return smaller(following(delta_from_kl_forward(own.value, epsilon), own),
                                  following(delta_from_kl_reverse(other.value, epsilon), other));
                 }},
      evidence_);
}

Claimed<Delta> Risk::delta(Epsilon epsilon) const {
  return larger(delta(Direction::forward, epsilon), delta(Direction::reverse, epsilon));
}

Claimed<Epsilon> Risk::epsilon(Direction direction, Delta delta) const {
  return std::visit(
      Overloaded{[&](const Gaussian& g) {
                   if (g.forward.mutually_singular) {
                     return of_pair(gaussian_epsilon(g.forward, delta), g.forward);
                   }
                   const bool forward = is_forward(direction);
                   return of_pair(
                       gaussian_epsilon(forward ? g.forward_loss : g.reverse_loss,
                                        forward ? g.reverse_loss : g.forward_loss, delta),
                       g.forward);
                 },
                 [&](const Entropies& e) {
                   const auto& own = is_forward(direction) ? e.forward : e.reverse;
                   const auto& other = is_forward(direction) ? e.reverse : e.forward;
                   return smaller(following(epsilon_from_kl_forward(own.value, delta), own),
                                  following(epsilon_from_kl_reverse(other.value, delta), other));
                 }},
      evidence_);
}

Claimed<Epsilon> Risk::epsilon(Delta delta) const {
  return larger(epsilon(Direction::forward, delta), epsilon(Direction::reverse, delta));
}

Claimed<double> Risk::tpr(double fpr) const {
  return std::visit(
      Overloaded{
          [&](const Gaussian& g) { return of_pair(gaussian_tpr(g.forward, fpr), g.forward); },
          [&](const Entropies& e) {
            return smaller(following(tpr_from_kl_forward(e.forward.value, fpr), e.forward),
                           following(tpr_from_kl_reverse(e.reverse.value, fpr), e.reverse));
          }},
      evidence_);
}

}  // namespace sfumato
