#include "sfumato/risk/risk.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <variant>

#include "sfumato/core/infinity.hpp"
#include "sfumato/core/overloaded.hpp"
#include "sfumato/divergence/gaussian_hockey_stick.hpp"
#include "sfumato/divergence/gaussian_kl.hpp"
#include "sfumato/divergence/gaussian_tradeoff.hpp"
#include "sfumato/divergence/local_gdp.hpp"
#include "sfumato/divergence/privacy_loss.hpp"
#include "sfumato/divergence/rank_assumption.hpp"
#include "sfumato/math/covariance.hpp"
#include "sfumato/risk/kl_conversion.hpp"

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

/// Distributions that were compared have eight digits (compare_precisely). A value keeps those that are printed;
/// a bound made of them is moved up by what they may lack, which counts by the logarithm.
double moved_up(double value, Claim claim) {
  constexpr double lacking = 1e-7;
  if (claim != Claim::upper_bound || !(value > 0.0)) return value;
  return value * (1.0 + lacking * (1.0 + std::abs(std::log(value))));
}

/// Distributions that differ have a positive delta, also where its bound is below the least double.
Claimed<Delta> not_nothing(Claimed<Delta> bound, const Claimed<Nats>& kl) {
  if (bound.value.probability() == 0.0 && kl.value.value() > 0.0) {
    bound.value = Delta{std::numeric_limits<double>::denorm_min()};
  }
  return bound;
}

/// A bound that follows from a KL inherits what the KL assumes.
template <class T>
Claimed<T> following(Claimed<T> bound, const Claimed<Nats>& kl) {
  bound.assumptions.insert(bound.assumptions.end(), kl.assumptions.begin(), kl.assumptions.end());
  return bound;
}

/// A view of two normal distributions as one of the output: the same, with the assumption about their
/// rank; or, where the distributions only bound the output's, an upper bound.
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

/// The smallest of bound(curve) as an upper bound.
template <class T, class Bound>
Claimed<T> best_curve(const std::vector<LocalGdp>& curves, const std::string& method, double worst,
                      Bound&& bound) {
  double best = worst;
  for (const LocalGdp& curve : curves) {
    best = std::min(best, moved_up(bound(curve), Claim::upper_bound));
  }
  return {T{best}, Claim::upper_bound, method};
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

/// Two normal distributions; what is said about the output if `bound` is empty, what bounds it if not.
struct Risk::Gaussian {
  struct Side {
    WhitenedPair pair;
    PrivacyLoss loss;  ///< empty for mutually singular distributions
  };
  explicit Gaussian(const WhitenedPair& pair) : sides{{pair, {}}, {swapped(pair), {}}} {
    if (pair.mutually_singular) return;
    for (auto& side : sides) side.loss = privacy_loss(side.pair);
  }
  Side sides[2];                              ///< by Direction
  std::optional<Claimed<double>> bound = {};  ///< the mu of from_gdp
};

struct Risk::Entropies {
  Claimed<Nats> kl[2];  ///< by Direction
};

struct Risk::Local {
  std::vector<LocalGdp> curves[2];  ///< by Direction; never empty
  std::string method;
  /// The curves whose tail is a small part of `delta`.
  [[nodiscard]] std::vector<LocalGdp> candidates(std::size_t direction, double delta) const;
};

struct Risk::Evidence {
  std::variant<Gaussian, Entropies, Local> known;
};

Risk::Risk(std::vector<Evidence> evidence)
    : evidence_(std::make_shared<const std::vector<Evidence>>(std::move(evidence))) {}

Risk Risk::exact(const WhitenedPair& pair) { return Risk({{Gaussian(pair)}}); }

Risk Risk::from_kl(Claimed<Nats> forward, Claimed<Nats> reverse) {
  require_upper(forward, "KL");
  require_upper(reverse, "KL");
  return Risk({{Entropies{{std::move(forward), std::move(reverse)}}}});
}

Risk Risk::from_gdp(Claimed<double> mu) {
  require_upper(mu, "mu");
  if (!(mu.value >= 0.0)) {
    throw InvalidArgument(fmt::format("mu = {} is not a number >= 0", mu.value),
                          "Pass the mu of Gaussian differential privacy", Where::here("Risk"));
  }
  WhitenedPair
      pair;  // an infinite mu bounds nothing: distributions that can be told apart for sure
  if (mu.value < std::numeric_limits<double>::infinity()) {
    pair = shifted_normals(mu.value);
  } else {
    pair.mutually_singular = true;
  }
  Gaussian normal(pair);
  normal.bound = std::move(mu);
  return Risk({{std::move(normal)}});
}

Risk Risk::from_local_gdp(std::vector<LocalGdp> curves, std::string method) {
  const bool usable = std::all_of(curves.begin(), curves.end(), [](const LocalGdp& curve) {
    return curve.mu >= 0.0 && curve.tail >= 0.0 && curve.tail < 1.0 && curve.tail_prime >= 0.0 &&
           curve.tail_prime < 1.0;
  });
  if (curves.empty() || !usable) {
    throw InvalidArgument("no curves, or one without mu >= 0 and tails in [0, 1)",
                          "Pass what StationaryPairs proves", Where::here("Risk"));
  }
  std::vector<LocalGdp> reversed;
  for (const LocalGdp& curve : curves) reversed.push_back(swapped(curve));
  return Risk({{Local{{std::move(curves), std::move(reversed)}, std::move(method)}}});
}

std::vector<LocalGdp> Risk::Local::candidates(std::size_t direction, double delta) const {
  std::vector<LocalGdp> found;
  for (const double share : {0.5, 0.1, 1e-3}) {
    const LocalGdp* best = nullptr;
    for (const LocalGdp& curve : curves[direction]) {
      if (curve.tail <= share * delta && (best == nullptr || curve.mu < best->mu)) best = &curve;
    }
    if (best != nullptr && (found.empty() || found.back().mu != best->mu)) found.push_back(*best);
  }
  return found;
}

Risk Risk::best_of(const std::vector<Risk>& known) {
  std::vector<Evidence> evidence;
  for (const Risk& risk : known) {
    evidence.insert(evidence.end(), risk.evidence_->begin(), risk.evidence_->end());
  }
  if (evidence.empty()) {
    throw InvalidArgument("nothing is known", "Pass at least one Risk",
                          Where::here("Risk::best_of"));
  }
  return Risk(std::move(evidence));
}

template <class View>
auto Risk::least(View&& view) const {
  auto best = std::visit(view, evidence_->front().known);
  for (std::size_t i = 1; i < evidence_->size(); ++i) {
    best = smaller(std::move(best), std::visit(view, (*evidence_)[i].known));
  }
  return best;
}

Claimed<Nats> Risk::kl(Direction direction) const {
  return least(Overloaded{
      [&](const Gaussian& g) { return view_of(gaussian_kl(g.sides[index(direction)].pair), g); },
      [&](const Entropies& e) { return e.kl[index(direction)]; },
      [&](const Local& l) -> Claimed<Nats> {
        return {Nats{kInf}, Claim::upper_bound, l.method};
      }});
}

std::optional<Claimed<Nats>> Risk::renyi(Direction direction, double order) const {
  std::optional<Claimed<Nats>> best;
  for (const Evidence& evidence : *evidence_) {
    const auto* g = std::get_if<Gaussian>(&evidence.known);
    if (g == nullptr) continue;
    Claimed<Nats> found = view_of(gaussian_renyi(g->sides[index(direction)].pair, order), *g);
    best = best ? smaller(std::move(*best), std::move(found)) : std::move(found);
  }
  return best;
}

Claimed<double> Risk::advantage() const {
  return least(
      Overloaded{[](const Gaussian& g) {
                   Claimed<double> found = gaussian_total_variation(g.sides[0].pair);
                   found.value = std::min(1.0, moved_up(found.value, found.claim));
                   return view_of(std::move(found), g);
                 },
                 [](const Entropies& e) {
                   return smaller(following(total_variation_from_kl(e.kl[0].value), e.kl[0]),
                                  following(total_variation_from_kl(e.kl[1].value), e.kl[1]));
                 },
                 [](const Local& l) {
                   const auto bound = [](const LocalGdp& curve) { return delta_bound(curve, 0.0); };
                   return smaller(best_curve<double>(l.curves[0], l.method, 1.0, bound),
                                  best_curve<double>(l.curves[1], l.method, 1.0, bound));
                 }});
}

Claimed<Delta> Risk::delta(Direction direction, Epsilon epsilon) const {
  const std::size_t own = index(direction);
  const std::size_t other = opposite(direction);
  return least(Overloaded{
      [&](const Gaussian& g) -> Claimed<Delta> {
        if (g.sides[0].pair.mutually_singular) {
          return view_of<Delta>({Delta{1.0}, Claim::exact, "mutually singular distributions"}, g);
        }
        const HockeyStick h =
            gaussian_hockey_stick(g.sides[own].loss, g.sides[other].loss, epsilon.nats());
        const double delta =
            std::min(1.0, moved_up(h.delta, g.bound ? Claim::upper_bound : h.claim));
        return view_of<Delta>({Delta{delta}, h.claim, "Gaussian hockey-stick, contour integral"},
                              g);
      },
      [&](const Entropies& e) {
        // KL(D||D') bounds both directions, and so does KL(D'||D): take the better.
        return not_nothing(
            smaller(following(delta_from_kl_forward(e.kl[own].value, epsilon), e.kl[own]),
                    following(delta_from_kl_reverse(e.kl[other].value, epsilon), e.kl[other])),
            e.kl[own]);
      },
      [&](const Local& l) {
        return best_curve<Delta>(l.curves[own], l.method, 1.0, [&](const LocalGdp& curve) {
          return delta_bound(curve, epsilon.nats());
        });
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
      },
      [&](const Local& l) {
        return best_curve<Epsilon>(
            l.candidates(own, delta.probability()), l.method, kInf,
            [&](const LocalGdp& curve) { return epsilon_bound(curve, delta); });
      }});
}

Claimed<Epsilon> Risk::epsilon(Delta delta) const {
  return larger(epsilon(Direction::forward, delta), epsilon(Direction::reverse, delta));
}

Claimed<double> Risk::tpr(double fpr) const {
  return least(Overloaded{
      [&](const Gaussian& g) {
        Claimed<double> found = gaussian_tpr(g.sides[0].pair, fpr);
        found.value = std::min(1.0, moved_up(found.value, found.claim));
        return view_of(std::move(found), g);
      },
      [&](const Entropies& e) {
        return smaller(following(tpr_from_kl_forward(e.kl[0].value, fpr), e.kl[0]),
                       following(tpr_from_kl_reverse(e.kl[1].value, fpr), e.kl[1]));
      },
      [&](const Local& l) {
        return best_curve<double>(l.curves[0], l.method, 1.0,
                                  [&](const LocalGdp& curve) { return tpr_bound(curve, fpr); });
      }});
}

}  // namespace sfumato
