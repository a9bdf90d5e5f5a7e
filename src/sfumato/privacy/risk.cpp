#include "sfumato/privacy/risk.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "sfumato/divergence/gaussian_hockey_stick.hpp"
#include "sfumato/divergence/gaussian_kl.hpp"
#include "sfumato/divergence/gaussian_tradeoff.hpp"
#include "sfumato/math/covariance.hpp"
#include "sfumato/privacy/kl_conversion.hpp"

namespace sfumato {
namespace {

constexpr std::size_t index(Direction direction) { return direction == Direction::forward ? 0 : 1; }
constexpr std::size_t opposite(Direction direction) { return 1 - index(direction); }

/// The better of two bounds on the same thing.
template <class T>
Claimed<T> smaller(Claimed<T> a, Claimed<T> b) {
  return b.value < a.value ? std::move(b) : std::move(a);
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

/// Laws that were compared have eight digits (compare_precisely). A value keeps those that are printed;
/// a bound made of them is moved up by what they may lack, which counts by the logarithm.
double moved_up(double value, Claim claim) {
  constexpr double lacking = 1e-7;
  if (claim != Claim::upper_bound || !(value > 0.0)) return value;
  return value * (1.0 + lacking * (1.0 + std::abs(std::log(value))));
}

/// A bound that follows from a KL inherits what the KL assumes.
template <class T>
Claimed<T> following(Claimed<T> bound, const Claimed<Nats>& kl) {
  bound.assumptions.insert(bound.assumptions.end(), kl.assumptions.begin(), kl.assumptions.end());
  return bound;
}

/// What a view of two normal laws says about the output: the same, with the assumption about their
/// rank; or, where the laws only bound the output's, an upper bound.
template <class T, class Gaussian>
Claimed<T> view_of(Claimed<T> view, const Gaussian& g) {
  const bool said = !view.assumptions.empty() && view.assumptions.back() == kRankAssumption;
  if (g.sides[0].pair.used_rank_tolerance && !said) view.assumptions.emplace_back(kRankAssumption);
  if (g.bound) {
    view.claim = Claim::upper_bound;
    view.method = g.bound->method;
    view.assumptions = g.bound->assumptions;
  }
  return view;
}

template <class T>
void require_upper(const Claimed<T>& bound, const char* what) {
  if (bound.claim == Claim::exact || bound.claim == Claim::upper_bound) return;
  throw InvalidArgument(
      fmt::format("a {} that is only estimated or bounded below says nothing about the risk", what),
      fmt::format("Pass an exact {} or an upper bound", what), Where::here("Risk"));
}

}  // namespace

std::string_view name(Direction direction) {
  return direction == Direction::forward ? "D||D'" : "D'||D";
}

Risk Risk::exact(const WhitenedPair& pair) {
  Gaussian gaussian{{{pair, {}}, {swapped(pair), {}}}, {}};
  if (!pair.mutually_singular) {
    for (auto& side : gaussian.sides) side.loss = privacy_loss(side.pair);
  }
  return Risk({std::move(gaussian)});
}

Risk Risk::from_kl(Claimed<Nats> forward, Claimed<Nats> reverse) {
  require_upper(forward, "KL");
  require_upper(reverse, "KL");
  return Risk({Entropies{{std::move(forward), std::move(reverse)}}});
}

Risk Risk::from_gdp(Claimed<double> mu) {
  require_upper(mu, "mu");
  if (!(mu.value >= 0.0)) {
    throw InvalidArgument(fmt::format("mu = {} is not a number >= 0", mu.value),
                          "Pass the mu of Gaussian differential privacy", Where::here("Risk"));
  }
  WhitenedPair pair;  // an infinite mu bounds nothing: laws that can be told apart for sure
  if (mu.value < std::numeric_limits<double>::infinity()) {
    pair = shifted_normals(mu.value);
  } else {
    pair.mutually_singular = true;
  }
  Risk risk = exact(pair);
  std::get<Gaussian>(risk.evidence_.front()).bound = std::move(mu);
  return risk;
}

Risk Risk::best_of(const std::vector<Risk>& known) {
  std::vector<Evidence> evidence;
  for (const Risk& risk : known) {
    evidence.insert(evidence.end(), risk.evidence_.begin(), risk.evidence_.end());
  }
  if (evidence.empty()) {
    throw InvalidArgument("nothing is known", "Pass at least one Risk",
                          Where::here("Risk::best_of"));
  }
  return Risk(std::move(evidence));
}

template <class View>
auto Risk::least(View&& view) const {
  auto best = std::visit(view, evidence_.front());
  for (std::size_t i = 1; i < evidence_.size(); ++i) {
    best = smaller(std::move(best), std::visit(view, evidence_[i]));
  }
  return best;
}

Claimed<Nats> Risk::kl(Direction direction) const {
  return least(Overloaded{
      [&](const Gaussian& g) { return view_of(gaussian_kl(g.sides[index(direction)].pair), g); },
      [&](const Entropies& e) { return e.kl[index(direction)]; }});
}

std::optional<Claimed<Nats>> Risk::renyi(Direction direction, double order) const {
  std::optional<Claimed<Nats>> best;
  for (const Evidence& evidence : evidence_) {
    const auto* g = std::get_if<Gaussian>(&evidence);
    if (g == nullptr) continue;
    Claimed<Nats> found = view_of(gaussian_renyi(g->sides[index(direction)].pair, order), *g);
    best = best ? smaller(std::move(*best), std::move(found)) : std::move(found);
  }
  return best;
}

Claimed<double> Risk::advantage() const {
  return least(Overloaded{[](const Gaussian& g) {
                            Claimed<double> found = gaussian_total_variation(g.sides[0].pair);
                            found.value = std::min(1.0, moved_up(found.value, found.claim));
                            return view_of(std::move(found), g);
                          },
                          [](const Entropies& e) {
                            return smaller(
                                following(total_variation_from_kl(e.kl[0].value), e.kl[0]),
                                following(total_variation_from_kl(e.kl[1].value), e.kl[1]));
                          }});
}

Claimed<Delta> Risk::delta(Direction direction, Epsilon epsilon) const {
  const std::size_t own = index(direction);
  const std::size_t other = opposite(direction);
  return least(Overloaded{
      [&](const Gaussian& g) -> Claimed<Delta> {
        if (g.sides[0].pair.mutually_singular) {
          return view_of<Delta>({Delta{1.0}, Claim::exact, "mutually singular laws"}, g);
        }
        const HockeyStick h =
            gaussian_hockey_stick(g.sides[own].loss, g.sides[other].loss, epsilon.nats());
        const double delta = std::min(1.0, moved_up(h.delta, h.claim));
        return view_of<Delta>({Delta{delta}, h.claim, "Gaussian hockey-stick, contour integral"},
                              g);
      },
      [&](const Entropies& e) {
        // KL(D||D') bounds both directions, and so does KL(D'||D): take the better.
        return smaller(following(delta_from_kl_forward(e.kl[own].value, epsilon), e.kl[own]),
                       following(delta_from_kl_reverse(e.kl[other].value, epsilon), e.kl[other]));
      }});
}

Claimed<Delta> Risk::delta(Epsilon epsilon) const {
  return larger(delta(Direction::forward, epsilon), delta(Direction::reverse, epsilon));
}

Claimed<Epsilon> Risk::epsilon(Direction direction, Delta delta) const {
  const std::size_t own = index(direction);
  const std::size_t other = opposite(direction);
  return least(Overloaded{
      [&](const Gaussian& g) {
        if (g.sides[0].pair.mutually_singular) {
          return view_of(gaussian_epsilon(g.sides[0].pair, delta), g);
        }
        Claimed<Epsilon> found = gaussian_epsilon(g.sides[own].loss, g.sides[other].loss, delta);
        found.value = Epsilon{moved_up(found.value.nats(), found.claim)};
        return view_of(std::move(found), g);
      },
      [&](const Entropies& e) {
        return smaller(following(epsilon_from_kl_forward(e.kl[own].value, delta), e.kl[own]),
                       following(epsilon_from_kl_reverse(e.kl[other].value, delta), e.kl[other]));
      }});
}

Claimed<Epsilon> Risk::epsilon(Delta delta) const {
  return larger(epsilon(Direction::forward, delta), epsilon(Direction::reverse, delta));
}

Claimed<double> Risk::tpr(double fpr) const {
  return least(Overloaded{[&](const Gaussian& g) {
                            Claimed<double> found = gaussian_tpr(g.sides[0].pair, fpr);
                            found.value = std::min(1.0, moved_up(found.value, found.claim));
                            return view_of(std::move(found), g);
                          },
                          [&](const Entropies& e) {
                            return smaller(
                                following(tpr_from_kl_forward(e.kl[0].value, fpr), e.kl[0]),
                                following(tpr_from_kl_reverse(e.kl[1].value, fpr), e.kl[1]));
                          }});
}

}  // namespace sfumato
