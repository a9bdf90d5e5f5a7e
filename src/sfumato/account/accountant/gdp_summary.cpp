#include "sfumato/account/accountant/gdp_summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "sfumato/account/accountant/calibrate.hpp"
#include "sfumato/account/accountant/composition.hpp"
#include "sfumato/account/accountant/profile_curve.hpp"
#include "sfumato/core/error.hpp"
#include "sfumato/core/infinity.hpp"
#include "sfumato/divergence/gdp.hpp"

namespace sfumato {
namespace {

using Node = ProfileCurve::Node;
constexpr double kRounding = 1e-12;  // relative, of the closed form of delta_mu

double delta_of_mu(double mu, double eps) { return gdp_delta(mu, eps).delta; }

/// d delta_mu / da at a = e^eps.
double slope_of_mu(double mu, double eps) {
  return -0.5 * std::erfc((eps / mu + 0.5 * mu) / std::sqrt(2.0));
}

/// Whether on every cell the chord of upper ends is below the tangent of outside + (1 - outside) delta_mu at the middle.
bool is_above(double mu, const std::vector<Node>& nodes, double outside) {
  for (std::size_t i = 0; i + 1 < nodes.size(); ++i) {
    const Node &left = nodes[i], &right = nodes[i + 1];
    if (left.hi <= outside) return true;  // delta falls
    const double middle = 0.5 * (left.eps + right.eps), a = std::exp(middle);
    const double value = delta_of_mu(mu, middle) * (1.0 - kRounding);
    const double slope = slope_of_mu(mu, middle);
    for (const Node* end : {&left, &right}) {
      const double tangent = value + slope * (end->a - a);
      if (!(end->hi <= outside + (1.0 - outside) * (tangent - kRounding * std::fabs(slope) * a))) {
        return false;
      }
    }
  }
  return nodes.back().hi <= outside;
}

/// The largest mu whose curve is below lower ends at some node.
double least_mu(const std::vector<Node>& nodes, double outside) {
  double most = 0.0;
  for (const Node& node : nodes) {
    const double target = (node.lo - outside) / (1.0 - outside) * (1.0 - kRounding);
    if (!(target > 0.0) || !(delta_of_mu(most, node.eps) < target)) continue;
    double low = most, high = std::max(1.0, 2.0 * most);
    while (delta_of_mu(high, node.eps) < target && high < 1e6) high *= 2.0;
    for (int i = 0; i < 60; ++i) {
      const double middle = 0.5 * (low + high);
      (delta_of_mu(middle, node.eps) < target ? low : high) = middle;
    }
    most = low;
  }
  return most;
}

double enough_mu(const std::vector<Node>& nodes, double outside, double least) {
  double low = least, high = std::max(least * 1.001, 1e-9);
  while (!is_above(high, nodes, outside)) {
    low = high;
    high *= high < 1.01 * least ? 1.01 : 2.0;
    if (high > 1e6) return kInf;
  }
  while (high - low > 1e-9 * high) {
    const double middle = 0.5 * (low + high);
    (is_above(middle, nodes, outside) ? high : low) = middle;
  }
  return high;
}

/// value + slope (a - at), from below.
struct Line {
  double at, value, slope;
  [[nodiscard]] double operator()(double a) const { return value + slope * (a - at); }
};

/// The most of (delta_mu - delta) / (1 + a) over a cell: delta_mu is below its chord, delta above each of three lines, and the quotient has its
/// largest value at an end or where two lines meet.
double most_in_cell(const std::vector<Node>& nodes, std::size_t i, double mu) {
  const Node &left = nodes[i], &right = nodes[i + 1];
  const double from = delta_of_mu(mu, left.eps), to = delta_of_mu(mu, right.eps);
  const Line chord{left.a, from, (to - from) / (right.a - left.a)};
  std::array<Line, 3> below{Line{left.a, right.lo, 0.0}, Line{left.a, right.lo, 0.0},
                            Line{left.a, right.lo, 0.0}};
  if (i > 0) {
    const Node& before = nodes[i - 1];
    below[1] = {left.a, left.lo, (left.lo - before.hi) / (left.a - before.a)};
  }
  if (i + 2 < nodes.size()) {
    const Node& after = nodes[i + 2];
    below[2] = {right.a, right.lo, (after.hi - right.lo) / (after.a - right.a)};
  }
  double most = 0.0;
  const auto attempt = [&](double a) {
    if (!(a >= left.a && a <= right.a)) return;
    const double least = std::max({below[0](a), below[1](a), below[2](a)});
    most = std::max(most, (chord(a) - least) / (1.0 + a));
  };
  attempt(left.a);
  attempt(right.a);
  for (const auto& [one, other] : {std::pair{0, 1}, std::pair{0, 2}, std::pair{1, 2}}) {
    const Line &x = below[static_cast<std::size_t>(one)],
               &y = below[static_cast<std::size_t>(other)];
    if (x.slope != y.slope) {
      attempt((y.value - y.slope * y.at - x.value + x.slope * x.at) / (x.slope - y.slope));
    }
  }
  return most;
}

double regret_of(double mu, const std::vector<std::vector<Node>>& directions) {
  double most = 0.0;
  for (const std::vector<Node>& nodes : directions) {
    for (std::size_t i = 0; i + 1 < nodes.size(); ++i) {
      most = std::max(most, most_in_cell(nodes, i, mu));
    }
    most = std::max(most, delta_of_mu(mu, nodes.back().eps) / (1.0 + nodes.back().a));
  }
  return most * (1.0 + 1e-9) + 1e-15;
}

bool is_sampled(const PrivateReleases& releases) {
  return std::any_of(releases.list.begin(), releases.list.end(), [](const PrivateRelease& release) {
    return release.rate() < 1.0 || (release.sampler == Sampler::allocate && release.batches > 1);
  });
}

/// d0 = 0: one mu for all eps, that of the steps without sampling (Spec §31.1).
GdpSummary summary_for_all(const PrivateReleases& releases) {
  const auto mu = gdp_mu(releases);
  if (is_sampled(releases) || !mu) {
    throw InvalidArgument(
        fmt::format("mu_outside = 0 asks for one mu at all epsilons: for releases that sample "
                    "records {}, as without sampling",
                    mu ? fmt::format("none below {:.4g} holds", mu->value) : "none is known"),
        "Leave mu_outside out, or give a small probability, 1e-6 say", Where::key("mu_outside"));
  }
  return {0.0, mu->value * (1.0 - 1e-12), mu->value, 0.0};
}

}  // namespace

GdpSummary gdp_summary(const PrivateReleases& releases, double outside, const Observer* observer) {
  if (!(outside >= 0.0 && outside < 1.0)) {
    throw InvalidArgument(fmt::format("mu_outside = {} is not in [0, 1)", outside),
                          "Pass a small probability", Where::key("mu_outside"));
  }
  if (outside == 0.0) return summary_for_all(releases);
  std::vector<TotalLoss> losses;
  for (const StepDirection direction : directions_of(releases.relation)) {
    losses.push_back(loss_of(releases, direction));
    losses.back().observer = observer;
  }
  // A little beyond where delta is d0: the last node has to be below it.
  const ProfileCurve curve(losses, {.step = 1e-6, .least = outside * (1.0 - 1e-9), .most = 160});
  if (curve.nodes().back().hi > outside) {
    throw InvalidArgument(
        fmt::format("mu_outside = {} is less than what these releases disclose anyway", outside),
        "Give a larger one", Where::key("mu_outside"));
  }
  GdpSummary found{outside, least_mu(curve.nodes(), outside), 0.0, 0.0};
  found.mu_upper = enough_mu(curve.nodes(), outside, found.mu_lower);
  found.regret = regret_of(found.mu_upper, curve.directions());
  return found;
}

}  // namespace sfumato
