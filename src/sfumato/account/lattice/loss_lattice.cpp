#include "sfumato/account/lattice/loss_lattice.hpp"

#include <algorithm>
#include <cmath>

#include "sfumato/account/contour/rounding_unit.hpp"

namespace sfumato {
namespace {

/// The mass at and above a point, or, where that has more digits, what is missing to the whole.
struct Tail {
  double value;
  bool missing;
};

double difference(const Tail& at, const Tail& next, double whole) {
  if (at.missing && next.missing) return next.value - at.value;
  if (at.missing) return whole - at.value - next.value;
  if (next.missing) return at.value - (whole - next.value);
  return at.value - next.value;
}

/// Masses of points whose tails are given as bounds in one direction (`sign` is 1 for upper bounds, -1 for lower). Bounds
/// that are out of order are put into order from the top, which keeps them bounds, since the true ones are in order.
std::vector<double> masses_of(std::vector<Tail> tails, double whole, double sign) {
  std::vector<double> mass(tails.size() - 1);
  for (std::size_t i = mass.size(); i-- > 0;) {
    double here = difference(tails[i], tails[i + 1], whole);
    if (tails[i].missing != tails[i + 1].missing) here += sign * 4.0 * kUnit * whole;
    if (here > 0.0) {
      mass[i] = here;
    } else {
      tails[i] = tails[i + 1];
    }
  }
  return mass;
}

/// The mass between two thresholds, from the sides that have the digits.
MassBounds between(const MassBounds& above_low, const MassBounds& below_low,
                   const MassBounds& above_high, const MassBounds& below_high) {
  if (above_low.hi <= below_high.hi) {
    return {std::max(0.0, above_low.lo - above_high.hi),
            std::max(0.0, above_low.hi - above_high.lo)};
  }
  return {std::max(0.0, below_high.lo - below_low.hi), std::max(0.0, below_high.hi - below_low.lo)};
}
struct Cell {
  MassBounds p, q;
};
Cell cell_between(const LossTails& low, const LossTails& high) {
  return {between(low.p_above, low.p_below, high.p_above, high.p_below),
          between(low.q_above, low.q_below, high.q_above, high.q_below)};
}

/// The P-mass that goes to the upper of two points `spacing` apart when P- and Q-mass stay the same: (p - e^low q) / (1 - e^-spacing).
MassBounds upper_share(const Cell& cell, double low, double spacing) {
  const double factor = std::exp(low), width = -std::expm1(-spacing);
  const double rounding = 8.0 * kUnit * (1.0 + std::fabs(low));
  const double lo = (cell.p.lo - factor * cell.q.hi * (1.0 + rounding)) / width;
  const double hi = (cell.p.hi - factor * cell.q.lo * (1.0 - rounding)) / width;
  return {std::clamp(lo * (1.0 - (lo > 0.0 ? 1.0 : -1.0) * 8.0 * kUnit), 0.0, cell.p.lo),
          std::clamp(hi * (1.0 + 8.0 * kUnit), 0.0, cell.p.hi)};
}

double point(const LatticeRange& range, std::int64_t i) {
  return static_cast<double>(i) * range.spacing;
}

std::vector<LossTails> tails_on(const LossDistribution& distribution, const LatticeRange& range) {
  std::vector<LossTails> tails;
  tails.reserve(static_cast<std::size_t>(range.last - range.first + 1));
  for (std::int64_t i = range.first; i <= range.last; ++i)
    tails.push_back(distribution.tails(point(range, i)));
  return tails;
}

/// The index of the lattice point that an atom lies on up to rounding, or of the one below it.
struct AtomPlace {
  std::int64_t index;
  bool exact;
};
AtomPlace place_of(double loss, double spacing) {
  const double nearest = std::nearbyint(loss / spacing);
  if (std::fabs(nearest * spacing - loss) <= 8.0 * kUnit * std::fabs(loss)) {
    return {static_cast<std::int64_t>(nearest), true};
  }
  return {static_cast<std::int64_t>(std::floor(loss / spacing)), false};
}
double moved(const AtomPlace& place, double loss) {
  return place.exact ? 16.0 * kUnit * std::fabs(loss) : 0.0;
}

/// Cells whose masses are put on the point `lower` above their start, and on the one after it the P-mass `share`.
struct Pool {
  std::size_t cells, lower;
  double share = 0.0;
};

/// Three cells from point i on where two points can take them with the same masses under P and Q; more where their distribution is too
/// uneven; where none can, one point for the mean of three cells, rounded down.
Pool pool_from(const LossDistribution& distribution, const LatticeRange& range,
               const std::vector<LossTails>& at, std::size_t i) {
  constexpr std::size_t kMost = 64;  // cells: beyond it a pool would cost more than rounding down
  const double h = range.spacing;
  const double start = point(range, range.first + static_cast<std::int64_t>(i));
  const std::size_t left = at.size() - 1 - i;
  Pool rounded{std::min<std::size_t>(left, 3), 0};
  for (std::size_t cells = std::min<std::size_t>(left, 3); cells <= std::min(left, kMost);
       ++cells) {
    const Cell all = cell_between(at[i], at[i + cells]);
    if (!(all.p.lo > 0.0 && all.q.hi > 0.0)) break;
    const double rounding =
        16.0 * kUnit * (1.0 + std::fabs(start) + static_cast<double>(cells) * h);
    const double mean = (std::log(all.p.lo / all.q.hi) - rounding - start) / h;
    const auto last = static_cast<double>(cells);
    const auto lower = static_cast<std::size_t>(std::clamp(std::floor(mean), 0.0, last));
    if (cells == rounded.cells) rounded.lower = lower;
    if (lower + 1 > cells) continue;
    // Below a cut the mean is at most the lower point, above it at least the upper one.
    const double low = start + static_cast<double>(lower) * h;
    const auto divides = [&](const LossTails& cut) {
      const Cell under = cell_between(at[i], cut), over = cell_between(cut, at[i + cells]);
      return under.p.hi * (1.0 + rounding) <= std::exp(low) * under.q.lo &&
             over.p.lo >= std::exp(low + h) * over.q.hi * (1.0 + rounding);
    };
    if ((cells <= 8 && divides(distribution.tails(low + 0.5 * h))) || divides(at[i + lower]) ||
        divides(at[i + lower + 1])) {
      return {cells, lower, upper_share(all, low, h).lo};
    }
  }
  return rounded;
}

}  // namespace

LatticeDistribution upper_lattice(const LossDistribution& distribution, const LatticeRange& range) {
  const auto count = static_cast<std::size_t>(range.last - range.first + 1);
  LatticeDistribution result{range.first, std::vector<double>(count), 0.0, 0.0};
  if (distribution.tails) {
    const std::vector<LossTails> at = tails_on(distribution, range);
    const double whole = at.front().p_above.hi + at.front().p_below.hi;
    // Point i has what is above it, and its share of the cell below.
    std::vector<Tail> tails(count + 1);
    tails[0] = {0.0, true};
    for (std::size_t i = 1; i < count; ++i) {
      const double low = point(range, range.first + static_cast<std::int64_t>(i) - 1);
      const double share = upper_share(cell_between(at[i - 1], at[i]), low, range.spacing).hi;
      const bool missing = at[i].p_above.hi > at[i].p_below.hi;
      tails[i] = {missing ? at[i].p_below.lo - share : at[i].p_above.hi + share, missing};
      if (missing) tails[i].value = std::max(tails[i].value, 0.0);
    }
    tails[count] = {at.back().p_above.hi, false};
    result.infinite = at.back().p_above.hi;
    result.mass = masses_of(std::move(tails), whole, 1.0);
  }
  for (const auto& [loss, mass] : distribution.atoms) {
    const AtomPlace place = place_of(loss, range.spacing);
    result.slack = std::max(result.slack, moved(place, loss));
    const double low = point(range, place.index);
    const double share = place.exact ? 0.0 : std::expm1(low - loss) / std::expm1(-range.spacing);
    const auto put = [&](std::int64_t i, double amount) {
      if (i > range.last) {
        result.infinite += amount;
      } else {
        result.mass[static_cast<std::size_t>(std::max<std::int64_t>(i - range.first, 0))] += amount;
      }
    };
    const double up =
        std::min(mass.hi, mass.hi * share * (1.0 + 1e-12) + 1e-14 * mass.hi * (share > 0.0));
    put(place.index + 1, up);
    put(place.index, mass.hi - up);
  }
  return result;
}

LatticeDistribution lower_lattice(const LossDistribution& distribution, const LatticeRange& range) {
  const auto count = static_cast<std::size_t>(range.last - range.first + 1);
  LatticeDistribution result{range.first, std::vector<double>(count), 0.0, 0.0};
  if (distribution.tails) {
    const std::vector<LossTails> at = tails_on(distribution, range);
    const double whole = at.front().p_above.lo + at.front().p_below.lo;
    const auto tail_of = [&](std::size_t i) {
      const bool missing = at[i].p_above.hi > at[i].p_below.hi;
      return Tail{missing ? at[i].p_below.hi : at[i].p_above.lo, missing};
    };
    std::vector<Tail> tails(count + 1);
    tails[0] = tail_of(0);
    tails[count] = {0.0, false};
    for (std::size_t i = 0; i + 1 < count;) {
      const Pool pool = pool_from(distribution, range, at, i);
      const Tail before = tail_of(i), after = tail_of(i + pool.cells);
      for (std::size_t j = 1; j <= pool.cells; ++j) tails[i + j] = j <= pool.lower ? before : after;
      if (pool.share > 0.0) {
        tails[i + pool.lower + 1] = {
            after.missing ? after.value - pool.share : after.value + pool.share, after.missing};
      }
      i += pool.cells;
    }
    result.mass = masses_of(std::move(tails), whole, -1.0);
  }
  for (const auto& [loss, mass] : distribution.atoms) {
    const AtomPlace place = place_of(loss, range.spacing);
    result.slack = std::max(result.slack, moved(place, loss));
    if (place.index < range.first) continue;
    result.mass[static_cast<std::size_t>(std::min(place.index, range.last) - range.first)] +=
        mass.lo;
  }
  return result;
}

}  // namespace sfumato
