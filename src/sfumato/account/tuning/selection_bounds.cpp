#include "sfumato/account/tuning/selection_bounds.hpp"

#include <algorithm>
#include <cmath>

#include "sfumato/account/tuning/runs.hpp"

namespace sfumato {
namespace {

constexpr double kMargin =
    1e-14;  // relative, of numbers from powers and logarithms: some fifty roundings

/// c - s r, which bounds what a cell of x contributes.
struct Line {
  double c, s;
};

/// Where `right` begins to be above `left`, which is steeper.
double crossing(const Line& left, const Line& right) {
  const double fall = left.c - right.c, turn = left.s - right.s;
  return fall == 0.0 ? 0.0 : fall / turn;
}

/// Adds a flatter line to an upper envelope over r >= 0.
void add_to_envelope(const Line& line, std::vector<Line>* hull) {
  if (!hull->empty() && hull->back().c == line.c && hull->back().s == line.s) return;
  while (hull->size() > 1 &&
         crossing((*hull)[hull->size() - 2], hull->back()) >= crossing(hull->back(), line)) {
    hull->pop_back();
  }
  hull->push_back(line);
}

}  // namespace

SharpSelectionBound::SharpSelectionBound(const ProfileCurve& curve, const RunsDistribution& runs,
                                         double least_x, int cells)
    : curve_(curve) {
  // Both fall with x: the left end of a cell bounds c, the right end s.
  std::vector<Line> hull;
  const double ratio = -std::log(least_x) / (cells - 1);
  double x = 0.0;
  for (int j = 0; j < cells; ++j) {
    const double next = j + 1 == cells ? 1.0 : least_x * std::exp(ratio * j);
    add_to_envelope({selection_weight(runs, x) * (1.0 + kMargin),
                     selection_weight(runs, curve.rate_hi(next)) * (1.0 - kMargin)},
                    &hull);
    x = next;
  }
  add_to_envelope({0.0, 0.0}, &hull);
  for (std::size_t i = 0; i + 1 < hull.size(); ++i) {
    const double weight = hull[i].c - hull[i + 1].c, slope = hull[i].s - hull[i + 1].s;
    if (weight > 0.0) kinks_.push_back({weight, std::log(slope) - std::log(weight)});
  }
}

double SharpSelectionBound::delta_hi(double eps) const {
  double sum = 0.0;
  for (const Kink& kink : kinks_) {
    const double rounding = kMargin * (1.0 + std::fabs(kink.log_a) + eps);
    sum += kink.weight * curve_.delta_hi(eps + kink.log_a - rounding);
  }
  return std::min(1.0, sum * (1.0 + 1e-11));  // sums of 60,000 terms
}

namespace {

/// A set of outputs by their loss: its masses under both distributions of the pair, with the ends that are safe for its use.
struct Masses {
  double p, q;
};

/// {T > eps} with e^eps drawn uniformly from every cell of the curve: P at least, Q at most. As delta(a) = P(T > log a) - a Q(T > log a) is convex with the
/// slope -Q(T > log a), the mean of Q is the secant's, and that of P is 2 (mean of delta) - delta(a') + a Q.
std::vector<Masses> large_losses(const std::vector<ProfileCurve::Node>& nodes) {
  std::vector<Masses> sets;
  for (std::size_t i = 1; i + 2 < nodes.size(); ++i) {
    const ProfileCurve::Node &before = nodes[i - 1], &left = nodes[i], &right = nodes[i + 1],
                             &after = nodes[i + 2];
    const double width = right.a - left.a;
    const double from_left = left.lo + 0.5 * width * (left.lo - before.hi) / (left.a - before.a);
    const double from_right = right.lo + 0.5 * width * (right.lo - after.hi) / (after.a - right.a);
    const double mean = std::max({from_left, from_right, right.lo});
    const double p = 2.0 * mean - right.hi + left.a * (left.lo - right.hi) / width;
    const double q = (left.hi - right.lo) / width;
    sets.push_back(
        {std::clamp(p * (1.0 - kMargin), 0.0, 1.0), std::clamp(q * (1.0 + kMargin), 0.0, 1.0)});
  }
  return sets;
}

/// Sets of small losses, P at most and Q at least: nothing; those below 0, which are large for the exchanged pair; those that are not large.
std::vector<Masses> small_losses(const std::vector<Masses>& large,
                                 const std::vector<Masses>& exchanged) {
  std::vector<Masses> sets = {{0.0, 0.0}};
  for (auto at = exchanged.rbegin(); at != exchanged.rend(); ++at) sets.push_back({at->q, at->p});
  for (const Masses& rest : large) sets.push_back({1.0 - rest.p, 1.0 - rest.q});
  return sets;
}

/// The epsilon at which the best run falls into `set` with `delta` more than e^eps times the other probability, where `better` beats it.
double epsilon_of_score(const RunsDistribution& runs, double delta, const Masses& better,
                        const Masses& set) {
  // Differences of two probabilities near 1, each of some ten roundings that powers amplify. Where nothing is better there is no difference, and the
  // margin is relative: sets of small losses cost all that a probability of e^-eps is worth.
  const double rounding = better.p == 0.0 && better.q == 0.0 ? 0.0 : 1e-13;
  constexpr double kRelative = 1e-12;
  const double gain = (probability_of_some(runs, std::min(1.0, better.p + set.p)) -
                       probability_of_some(runs, better.p)) *
                          (1.0 - kRelative) -
                      rounding;
  const double cost = (probability_of_some(runs, std::min(1.0, better.q + set.q)) -
                       probability_of_some(runs, better.q)) *
                          (1.0 + kRelative) +
                      rounding;
  return gain > delta ? std::log((gain - delta) / cost) - kMargin : 0.0;
}

/// The largest over pairs of sets: a coarse grid, refined around its best.
double best_score(const std::vector<Masses>& small, const std::vector<Masses>& large,
                  std::size_t below, const RunsDistribution& runs, double delta) {
  if (large.empty()) return 0.0;
  double found = 0.0;
  long best = 0, second = static_cast<long>(large.size() / 2);
  const auto attempt = [&](long b, long s) {
    if (b < 0 || s < 0 || b >= static_cast<long>(small.size()) ||
        s >= static_cast<long>(large.size()) || b > s + static_cast<long>(below)) {
      return;  // the sets would meet
    }
    const double epsilon = epsilon_of_score(runs, delta, small[static_cast<std::size_t>(b)],
                                            large[static_cast<std::size_t>(s)]);
    if (epsilon > found) found = epsilon, best = b, second = s;
  };
  long stride = std::max<long>(1, static_cast<long>(large.size()) / 100);
  for (long b = 0; b < static_cast<long>(small.size()); b += stride) {
    for (long s = 0; s < static_cast<long>(large.size()); s += stride) attempt(b, s);
  }
  for (; stride > 0; stride /= 2) {
    const long b = best, s = second;
    for (long i = -2; i <= 2; ++i) {
      for (long j = -2; j <= 2; ++j) attempt(b + i * stride, s + j * stride);
    }
  }
  return found;
}

}  // namespace

double attained_by_selection(const ProfileCurve& curve, const RunsDistribution& runs,
                             double delta) {
  const auto& directions = curve.directions();
  std::vector<std::vector<Masses>> large;
  large.reserve(directions.size());
  for (const auto& nodes : directions) large.push_back(large_losses(nodes));
  double found = 0.0;
  for (std::size_t d = 0; d < large.size(); ++d) {
    const std::vector<Masses>& exchanged = large[large.size() - 1 - d];
    found = std::max(found, best_score(small_losses(large[d], exchanged), large[d],
                                       exchanged.size(), runs, delta));
  }
  return found;
}

}  // namespace sfumato
