#include "sfumato/account/contour/hyperbolic_contour.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "sfumato/account/contour/compensated_sum.hpp"
#include "sfumato/account/contour/rotated_step.hpp"
#include "sfumato/account/contour/rounding_unit.hpp"
#include "sfumato/account/contour/tilted_distribution.hpp"
#include "sfumato/core/infinity.hpp"
#include "sfumato/math/special.hpp"

namespace sfumato {
namespace {

constexpr double kNats = 46.0;     // below the value: what is left out, and what the rule adds
constexpr double kUpright = 0.04;  // radians: the steepest hyperbola is nearly vertical
// In deviations of the noise: with smaller ones sampled steps are no rare large losses, with larger ones the zeros of r are too near.
constexpr double kLeastContribution = 0.2, kMostContribution = 20.0;
constexpr double kLeastTurn = 0.06;   // radians: below it the nodes are too many
constexpr double kOfTheSaddle = 0.6;  // of the saddle's abscissa: from the centre to the vertex
constexpr double kDeviations = 2.5;   // that the vertices of the three hyperbolas are apart
constexpr double kRise = 5.0;         // nats of the integrand, to the vertex on the right
constexpr double kLeastScale =
    0.1;  // of the saddle's abscissa: a narrower hyperbola meets the sampled steps
constexpr double kBlock = 0.2;            // of w
constexpr std::size_t kMostBlocks = 150;  // of a hyperbola
constexpr double kMostNodes = 3000.0;
constexpr double kMostPieces = 60.0;  // of a block
constexpr double kLoose = 2.0;        // nats by which a bound without a value may be too large

/// s(w) = centre + scale cosh(w + i psi).
struct Hyperbola {
  double centre, scale, psi;

  [[nodiscard]] Complex at(double w) const {
    return {centre + scale * std::cosh(w) * std::cos(psi), scale * std::sinh(w) * std::sin(psi)};
  }
  [[nodiscard]] Complex derivative(double w) const {
    return {scale * std::sinh(w) * std::cos(psi), scale * std::cosh(w) * std::sin(psi)};
  }
  /// Around the part from w on: its ends, and where the tangents in them meet.
  [[nodiscard]] TransformArea around(double w) const {
    const Complex middle = centre + (at(w + 0.5 * kBlock) - centre) / std::cosh(0.5 * kBlock);
    return {{at(w), at(w + kBlock), middle}};
  }
};

}  // namespace

/// Puts a contour together.
class HyperbolicContour::Builder {
 public:
  Builder(const TotalLoss& loss, const Saddle& saddle, double eps) : saddle_(saddle), eps_(eps) {
    for (const StepLoss& step : loss.steps) {
      entries_.emplace_back(std::get<SampledGaussian>(step));
      count_unsampled_loss_ += entries_.back().k() * entries_.back().unsampled_loss();
    }
  }

  [[nodiscard]] std::optional<HyperbolicContour> made() {
    if (!choose_hyperbolas()) return std::nullopt;
    for (Curve& curve : curves_) {
      if (!reach_out(&curve)) return std::nullopt;
    }
    if (!bound_blocks()) return std::nullopt;
    return sum_up();
  }

 private:
  /// A hyperbola in blocks, and bounds of the integrand on each.
  struct Curve {
    Hyperbola shape;
    std::size_t first = 0, count = 0;  ///< of its areas
    double log_rest = kInf;            ///< of the integral beyond the blocks, at eps = 0
    std::vector<Part> parts;
    std::vector<double> pieces;  ///< of every block, over which its bound is a mean
  };

  [[nodiscard]] bool choose_hyperbolas() {
    double widest = 1.0;
    for (const RotatedStep& entry : entries_) widest = std::min(widest, entry.widest());
    turn_ = 0.5 * (widest - kUpright);
    if (!(turn_ > 0.5 * kLeastTurn)) return false;
    // The rule in w converges like e^{-2 pi d / h} in the strip |Im w| < d in which the integrand is analytic, and the curves w +- i d are hyperbolas
    // with the same centre: d is half of the angle between the steepest and the widest one on which every step can be bounded.
    const double s0 = saddle_.s, psi = 0.5 * kPi - kUpright - turn_;
    const double curvature =
        saddle_.at.variance + 1.0 / (s0 * s0) + 1.0 / ((1.0 + s0) * (1.0 + s0));
    double scale =
        std::min(kOfTheSaddle * s0 / std::cos(psi), kDeviations / (turn_ * std::sqrt(curvature)));
    // To the right of the saddle sampled steps may take over at once.
    const auto right = [&] { return s0 + scale * (std::cos(psi - turn_) - std::cos(psi)); };
    const double most = exponent_at(s0) + kRise;
    // The hyperbola on the right may not be where sampled steps have taken over: the bound of the rule would be theirs.
    for (int i = 0; i < 40 && !(exponent_at(right()) < most); ++i) scale *= 0.7;
    const double centre = s0 - scale * std::cos(psi);
    curves_[0].shape = {centre, scale, psi};
    curves_[1].shape = {centre, scale, psi + turn_};
    curves_[2].shape = {centre, scale, psi - turn_};
    log_estimate_ = saddle_.at.value - s0 * eps_ - std::log(s0) - std::log1p(s0) -
                    0.5 * std::log(2.0 * kPi * curvature);
    return std::isfinite(log_estimate_) && centre > 0.0 && scale > kLeastScale * s0;
  }

  /// K(x) - x eps.
  [[nodiscard]] double exponent_at(double x) {
    double sum = -x * eps_;
    for (RotatedStep& entry : entries_) sum += entry.k() * entry.log_moment(x);
    return sum;
  }

  /// Blocks until what is beyond them is small.
  [[nodiscard]] bool reach_out(Curve* curve) {
    const Hyperbola& shape = curve->shape;
    curve->first = areas_.size();
    for (std::size_t i = 1; i <= kMostBlocks; ++i) {
      const double w = static_cast<double>(i) * kBlock;
      areas_.push_back(shape.around(w - kBlock));
      blocks_.push_back({curve, w - kBlock});
      ++curve->count;
      const Complex s = shape.at(w);
      double log = -count_unsampled_loss_ * (1.0 + s.real());
      for (const RotatedStep& entry : entries_) {
        log += entry.k() * entry.log_rest(s.real(), s.imag(), shape.psi);
      }
      const double sine = std::sin(shape.psi);
      log -= std::log(kPi * shape.scale * sine * sine * std::sinh(w));
      // What is beyond this block is e^-46 of the value: the end.
      if (log - s.real() * eps_ < log_estimate_ - kNats) {
        curve->log_rest = log + 1e-9;
        return true;
      }
    }
    return false;
  }

  /// A bound of the integral over every block, from values in their middles where one without a value would be loose.
  [[nodiscard]] bool bound_blocks() {
    std::vector<double> log_modulus(areas_.size(), 0.0);
    std::vector<std::vector<RotatedStep::Bound>> bounds(entries_.size());
    std::vector<std::size_t> used;
    for (std::size_t j = 0; j < entries_.size(); ++j) {
      if (!entries_[j].choose_lines(areas_)) return false;
      for (std::size_t i = 0; i < areas_.size(); ++i) {
        // A bound without a value costs little and is enough wherever the integrand is small anyway; values, which cost as much as nodes, are kept
        // for the blocks where it is loose.
        bounds[j].push_back(entries_[j].bound(areas_[i], i));
        log_modulus[i] += entries_[j].k() * bounds[j].back().log_modulus;
      }
    }
    const auto is_loose = [&](std::size_t i) { return log_modulus[i] > kLoose; };
    for (std::size_t i = 0; i < areas_.size(); ++i) {
      if (i < curves_[0].count || is_loose(i)) used.push_back(i);
    }
    for (RotatedStep& entry : entries_) {
      if (!entry.place(areas_, used)) return false;
    }
    for (std::size_t i = 0; i < areas_.size(); ++i) {
      const Hyperbola& shape = blocks_[i].curve->shape;
      const double w = blocks_[i].w, x = shape.at(w).real() * (1.0 - 1e-12);
      const double widest = std::abs(shape.derivative(w + kBlock)) * (1.0 + 1e-9);
      const double log_rest = std::log(kBlock / kPi) + std::log(widest) -
                              std::log(std::abs(shape.at(w)) * std::abs(1.0 + shape.at(w))) + 1e-9;
      const bool matters = log_modulus[i] + log_rest - x * eps_ > log_estimate_ - kNats;
      double pieces = 1.0;
      if (is_loose(i) && matters) {
        double change = 0.0;  // of log |M^k| in the block, at most, about
        for (std::size_t j = 0; j < entries_.size(); ++j) {
          change += entries_[j].k() * kBlock * widest * bounds[j][i].slope;
        }
        pieces = std::clamp(std::ceil(change), 1.0, kMostPieces);
        log_modulus[i] = std::min(log_modulus[i], log_mean_of_pieces(i, pieces, widest, bounds));
      }
      blocks_[i].curve->pieces.push_back(pieces);
      blocks_[i].curve->parts.push_back({log_modulus[i] + log_rest, x});
    }
    for (Curve& curve : curves_) {
      const double end = static_cast<double>(curve.count) * kBlock;
      curve.parts.push_back({curve.log_rest, curve.shape.at(end).real() * (1.0 - 1e-12)});
    }
    return true;
  }

  /// log of the mean of |M^k| over a block, at most: in pieces, by a value in the middle of each and what it changes by.
  [[nodiscard]] double log_mean_of_pieces(
      std::size_t i, double count, double widest,
      const std::vector<std::vector<RotatedStep::Bound>>& bounds) const {
    const Hyperbola& shape = blocks_[i].curve->shape;
    const double width = kBlock / count, apart = 0.5 * width * widest;
    double sum = -kInf;
    for (double piece = 0.0; piece < count; ++piece) {
      const Complex middle = shape.at(blocks_[i].w + (piece + 0.5) * width);
      double log = 0.0;
      for (std::size_t j = 0; j < entries_.size(); ++j) {
        const RotatedStep::Value at = entries_[j].at(middle, i);
        const double most = std::abs(1.0 + at.change) + at.error + apart * bounds[j][i].slope;
        log += entries_[j].k() * (std::log(most) + 8.0 * kUnit);
      }
      sum = log_add_exp(sum, log);
    }
    return sum - std::log(count) + 1e-12;
  }

  [[nodiscard]] static double log_sum(const std::vector<Part>& parts, double eps,
                                      std::size_t from = 0) {
    double sum = -kInf;
    for (std::size_t i = from; i < parts.size(); ++i) {
      sum = log_add_exp(sum, parts[i].log - parts[i].x * eps);
    }
    return sum;
  }

  [[nodiscard]] std::optional<HyperbolicContour> sum_up() {
    const Curve& curve = curves_[0];
    HyperbolicContour result;
    result.left_ = curves_[1].parts;
    result.right_ = curves_[2].parts;
    const double around = log_add_exp(log_sum(result.left_, eps_), log_sum(result.right_, eps_));
    const double exponent = around - log_estimate_ + kNats;
    if (!std::isfinite(exponent)) return std::nullopt;
    // The largest step at which the rule errs by e^-46 of the value.
    const double h = 2.0 * kPi * turn_ / std::max(exponent, 10.0);
    // Blocks whose part matters are summed.
    std::size_t needed = curve.count;
    while (needed > 1 && log_sum(curve.parts, eps_, needed - 1) < log_estimate_ - kNats) --needed;
    const double last = std::floor(static_cast<double>(needed) * kBlock / h);
    if (!(last < kMostNodes)) return std::nullopt;
    result.log_rule_ = 2.0 * kPi * turn_ / h + std::log(-std::expm1(-2.0 * kPi * turn_ / h));
    result.abscissa_ = saddle_.s;
    result.log_unit_ = saddle_.at.value;
    for (std::size_t i = needed; i < curve.parts.size(); ++i) {
      Part part = curve.parts[i];
      // A piece of a block has a node more than its length says; the rest falls like 1 / sinh(w), and its first term is one more.
      part.log += std::log1p(i < curve.count ? curve.pieces[i] * h / kBlock : 6.0 * h);
      result.beyond_.push_back(part);
    }
    for (double n = 0.0; n <= last; ++n) {
      const double w = n * h;
      const auto block = std::min(static_cast<std::size_t>(w / kBlock), curve.count - 1);
      const Node node = node_at(w, (n == 0.0 ? 0.5 : 1.0) * h / kPi, block);
      if (!std::isfinite(node.f.real()) || !std::isfinite(node.error)) return std::nullopt;
      result.nodes_.push_back(node);
    }
    return result;
  }

  [[nodiscard]] Node node_at(double w, double weight, std::size_t block) const {
    const Complex s = curves_[0].shape.at(w);
    Complex log = -saddle_.at.value;
    double log_wider = 0.0, turn = 0.0;
    for (const RotatedStep& entry : entries_) {
      const RotatedStep::Value at = entry.at(s, block);
      const Complex ratio = complex_log1p(at.change);
      log += entry.k() * ratio;
      // (|M| + error)^k / |M|^k - 1, not k error / |M|: with many steps the powers of the error count.
      log_wider += entry.k() * std::log1p(at.error * std::exp(-ratio.real()));
      turn += entry.k() * std::abs(ratio);
    }
    const Complex factor = weight * curves_[0].shape.derivative(w) / (s * (s + 1.0));
    const Complex f = factor * std::polar(std::exp(log.real()), log.imag());
    const double rounding = 8.0 * kUnit * (20.0 + turn + std::fabs(saddle_.at.value));
    return {s, f, std::abs(f) * (std::expm1(log_wider) + rounding)};
  }

  struct Block {
    Curve* curve;
    double w;
  };
  Saddle saddle_;
  double eps_;
  std::vector<RotatedStep> entries_;
  double count_unsampled_loss_ = 0.0;  ///< the loss of all steps without a sampled step
  double turn_ = 0.0;                  ///< between the hyperbolas
  double log_estimate_ = 0.0;
  std::array<Curve, 3> curves_;  ///< the contour, one to its left and one to its right
  std::vector<TransformArea> areas_;
  std::vector<Block> blocks_;
};

std::optional<HyperbolicContour> HyperbolicContour::at(const TotalLoss& loss, const Saddle& saddle,
                                                       double eps) {
  if (loss.steps.empty() || loss.mu_squared > 0.0 || !(eps >= 0.0)) return std::nullopt;
  if (!std::isfinite(saddle.at.value) || saddle.is_capped) return std::nullopt;
  for (const StepLoss& step : loss.steps) {
    const auto* sampled = std::get_if<SampledGaussian>(&step);
    if (sampled == nullptr || sampled->direction != StepDirection::remove || sampled->q > 0.5 ||
        sampled->m < kLeastContribution || sampled->m > kMostContribution) {
      return std::nullopt;
    }
  }
  return Builder(loss, saddle, eps).made();
}

/// Over e^{log_unit - abscissa eps}.
HyperbolicContour::Sums HyperbolicContour::sums_at(double eps) const {
  CompensatedSum value, slope;
  double rounding = 0.0;
  for (const Node& node : nodes_) {
    const double down = std::exp((abscissa_ - node.s.real()) * eps);
    const Complex f = node.f * std::polar(down, -node.s.imag() * eps);
    value.add(f.imag());
    slope.add(-(node.s * f).imag());
    rounding += node.error * down + 8.0 * kUnit * std::abs(f) * (10.0 + std::abs(node.s) * eps);
  }
  return {value.value(), slope.value(), rounding};
}

double HyperbolicContour::log_slope(double eps) const {
  const Sums sums = sums_at(eps);
  return sums.slope / sums.value;
}

LogEnclosure HyperbolicContour::enclosure(double eps) const {
  const Sums sums = sums_at(eps);
  const double log_scale = log_unit_ - abscissa_ * eps;
  const auto part = [&](const std::vector<Part>& parts) {
    double sum = 0.0;
    for (const Part& p : parts) sum += std::exp(p.log - p.x * eps - log_scale);
    return sum * (1.0 + 1e-9);
  };
  const double error = sums.rounding * (1.0 + 1e-9) + part(beyond_) +
                       (part(left_) + part(right_)) * std::exp(-log_rule_);
  const double guard = 8.0 * kUnit * (10.0 + std::fabs(log_unit_) + abscissa_ * eps);
  const auto logarithm = [&](double x) { return x > 0.0 ? log_scale + std::log(x) : -kInf; };
  const double high = logarithm(sums.value + error);
  if (!std::isfinite(error) || !std::isfinite(high)) return {-kInf, 0.0};
  return {logarithm(sums.value - error) - guard, std::min(0.0, high + guard)};
}

}  // namespace sfumato
