#include <fmt/format.h>

#include <cmath>
#include <numbers>
#include <utility>

#include "reproduce/noise_plane.hpp"
#include "reproduce/part.hpp"
#include "reproduce/sensitivities.hpp"
#include "sfumato/report/csv_export.hpp"

namespace sfumato::apps {
namespace {

using Eigen::Vector2d;
using Json = nlohmann::ordered_json;

// The paper does not give the range of its axes: that of Spec §13.1.
constexpr double kFrom = 0.5, kTo = 5.0;
constexpr const char* kCostMethod = "sum of S_i^2 / Sigma_ii, for fixed gradients";
constexpr const char* kTraceMethod = "trace of Sigma";
constexpr const char* kBestMethod = "closed form of Spec §9.1 at the same trace";
/// Two numbers are "the same" to a reader of a colour plot if they differ by less.
constexpr double kSame = 0.05;
/// A loss is "almost zero" beside another one below this share of it.
constexpr double kAlmostZero = 0.1;

/// A noise that the text names, in one of the settings.
struct Marked {
  Vector2d sensitivities;
  Vector2d noise;  ///< x, y
};

std::vector<Marked> marked_points() {
  std::vector<Marked> points;
  for (const Vector2d& s : paper_sensitivities()) {
    for (const Vector2d& noise : {Vector2d(4, 3), Vector2d(4, 4), Vector2d(4, 1)}) {
      points.push_back({s, noise});
    }
  }
  return points;
}

/// The two interpretations of "adding (4, 3) noise".
enum class Axes { deviations, variances };
constexpr Axes kAxes[] = {Axes::deviations, Axes::variances};
const char* text_of(Axes axes) {
  return axes == Axes::deviations ? "as standard deviations" : "read as variances";
}
NoisePlanePoint effect(const Vector2d& s, const Vector2d& noise, Axes axes) {
  return noise_plane_point(s, axes == Axes::deviations ? noise : noise.cwiseSqrt().eval());
}

bool same(double a, double b) { return std::abs(a - b) <= kSame * b; }

/// Tries `test` on two noises in both interpretations.
template <class Test>
Finding compare(std::string key, std::string statement, const Vector2d& s, const Vector2d& noise,
                const Vector2d& reference, Test test) {
  std::size_t confirmed = 0;
  std::vector<std::string> evidence;
  for (const Axes axes : kAxes) {
    const NoisePlanePoint a = effect(s, noise, axes);
    const NoisePlanePoint b = effect(s, reference, axes);
    if (test(a, b)) ++confirmed;
    evidence.push_back(
        fmt::format("{}: privacy cost {:.4g} against {:.4g}, trace {:.4g} against {:.4g}",
                    text_of(axes), a.privacy_cost, b.privacy_cost, a.trace, b.trace));
  }
  return {std::move(key), std::move(statement), verdict_of(confirmed, std::size(kAxes)),
          fmt::format("{} of {} interpretations", confirmed, std::size(kAxes)),
          fmt::format("{} against {}, {}.", point_text(noise), point_text(reference),
                      fmt::join(evidence, "; "))};
}

/// The paper's bound takes absolute values of the differences, coordinate by coordinate. Spec §9.2:
/// for correlated noise the result can be below the truth.
Finding absolute_values() {
  const Vector2d difference(1.0, -1.0);
  Eigen::Matrix2d inverse;
  inverse << 1.0, -0.9, -0.9, 1.0;
  const auto cost = [](const Eigen::Matrix2d& m, const Vector2d& s) { return s.dot(m * s); };
  const Vector2d size = difference.cwiseAbs();
  const Eigen::Matrix2d diagonal = inverse.diagonal().asDiagonal();
  const std::size_t confirmed =
      static_cast<std::size_t>(cost(diagonal, difference) <= cost(diagonal, size)) +
      static_cast<std::size_t>(cost(inverse, difference) <= cost(inverse, size));
  return {"absolute_values_bound", "the bound may use the gradients' absolute values",
          verdict_of(confirmed, 2), fmt::format("{} of 2 kinds of noise", confirmed),
          fmt::format("Diagonal noise does not see signs. Correlated noise does: Sigma^-1 = [[1, "
                      "-0.9], [-0.9, 1]] and s = (1, -1) cost {:.4g}, with |s| only {:.4g}.",
                      cost(inverse, difference), cost(inverse, size))};
}

std::vector<Finding> findings() {
  const auto [equal, unequal] = paper_sensitivities();
  std::vector<Finding> list;
  const double reference = noise_plane_point(unequal, Vector2d(4, 4)).trace;
  const Design best = best_noise(unequal, reference);
  // At equal privacy cost the traces are in the ratio of the costs at equal trace.
  list.push_back({"anisotropic_saves_accuracy", "unequal noise saves accuracy at equal privacy",
                  verdict_of(best.gain_over_isotropic() > 1.0 ? 1 : 0, 1), "S = (10, 1)",
                  fmt::format("At equal privacy the least trace is {:.4g} of the isotropic one; "
                              "for S = (10, 10) it is {:.4g}: nothing is saved there.",
                              1.0 / best.gain_over_isotropic(),
                              1.0 / best_noise(equal, reference).gain_over_isotropic())});
  list.push_back(compare("equal_settings", "S = (10, 10): noise (4, 3) is as good as (4, 4)", equal,
                         {4, 3}, {4, 4}, [](const auto& a, const auto& b) {
                           return same(a.privacy_cost, b.privacy_cost) && same(a.trace, b.trace);
                         }));
  list.push_back(compare(
      "same_privacy", "S = (10, 1): (4, 1) is as private as (4, 3)", unequal, {4, 1}, {4, 3},
      [](const auto& a, const auto& b) { return same(a.privacy_cost, b.privacy_cost); }));
  list.push_back(compare(
      "almost_no_loss", "S = (10, 1): (4, 1) costs almost no accuracy", unequal, {4, 1}, {4, 3},
      [](const auto& a, const auto& b) { return a.trace <= kAlmostZero * b.trace; }));
  list.push_back(absolute_values());
  return list;
}

Table points_table() {
  Table table("figure1_points", "The noises that the text names, and the best of the same trace",
              {{"sensitivities", "S"},
               {"x", "x"},
               {"y", "y"},
               {"privacy_cost", "privacy cost"},
               {"trace", "trace"},
               {"best_x", "best x"},
               {"best_y", "best y"},
               {"best_privacy_cost", "best cost"}},
              3);
  for (const Marked& point : marked_points()) {
    const NoisePlanePoint at = noise_plane_point(point.sensitivities, point.noise);
    const Design best = best_noise(point.sensitivities, at.trace);
    const Eigen::VectorXd deviations = diagonal_of(best.covariance).cwiseSqrt();
    table.add_row({point_text(point.sensitivities), point.noise(0), point.noise(1),
                   Claimed<double>{at.privacy_cost, Claim::exact, kCostMethod},
                   Claimed<double>{at.trace, Claim::exact, kTraceMethod}, deviations(0),
                   deviations(1), Claimed<double>{best.value, Claim::exact, kBestMethod}});
  }
  return table;
}

struct PlanePointOf1 {
  Vector2d noise;
  NoisePlanePoint effect;
};

std::vector<PlanePointOf1> plane(const Vector2d& sensitivities, int intervals) {
  const auto at = [&](int i) { return (kFrom * (intervals - i) + kTo * i) / intervals; };
  std::vector<PlanePointOf1> points;
  for (int i = 0; i <= intervals; ++i) {
    for (int j = 0; j <= intervals; ++j) {
      const Vector2d noise(at(i), at(j));
      points.push_back({noise, noise_plane_point(sensitivities, noise)});
    }
  }
  return points;
}

std::string key_of(const Vector2d& s) { return fmt::format("figure1_S{}_{}", s(0), s(1)); }

Table plane_table(const std::vector<PlanePointOf1>& points) {
  Table table("plane", "Noise plane", {{"x", ""}, {"y", ""}, {"privacy_cost", ""}, {"trace", ""}});
  for (const PlanePointOf1& p : points) {
    table.add_row({p.noise(0), p.noise(1), p.effect.privacy_cost, p.effect.trace});
  }
  return table;
}

/// Noises that cost as much accuracy as one of the text: a circle, as far as the plane shows it.
Series equal_trace(double trace) {
  Series series{fmt::format("trace_{:g}", trace),
                fmt::format("equal accuracy, trace {:g}", trace),
                {},
                {},
                {},
                Claim::exact,
                kTraceMethod};
  constexpr int kSteps = 90;
  for (int i = 0; i <= kSteps; ++i) {
    const double angle = std::numbers::pi / 2.0 * i / kSteps;
    const double x = std::sqrt(trace) * std::cos(angle), y = std::sqrt(trace) * std::sin(angle);
    if (x < kFrom || x > kTo || y < kFrom || y > kTo) continue;
    series.x.push_back(x);
    series.y.push_back(y);
  }
  series.mark = Mark::line;
  return series;
}

/// The privacy cost over the plane, with circles of equal accuracy, the noises that the text names and the best
/// noise on each circle.
Figure panel(const Vector2d& s, const std::vector<PlanePointOf1>& points) {
  const Axis z{"privacy cost s^T Sigma^-1 s", "", Scale::log};
  Series field{"plane", "privacy cost", {}, {}, {}, Claim::exact, kCostMethod};
  for (const PlanePointOf1& p : points) {
    field.x.push_back(p.noise(0));
    field.y.push_back(p.noise(1));
    field.z.push_back(p.effect.privacy_cost);
  }
  Series marks{"marked", "named in the text", {}, {}, {}, Claim::exact, kCostMethod};
  Series best{"best", "best of the same trace", {}, {}, {}, Claim::exact, kBestMethod};
  Figure figure(key_of(s) + "_privacy_cost", "Privacy cost, S = " + point_text(s), Mark::plane,
                Axis{"noise x"}, Axis{"noise y"}, z);
  figure.add(std::move(field));
  for (const Marked& point : marked_points()) {
    if (point.sensitivities != s) continue;
    const NoisePlanePoint at = noise_plane_point(s, point.noise);
    marks.x.push_back(point.noise(0));
    marks.y.push_back(point.noise(1));
    marks.z.push_back(at.privacy_cost);
    marks.labels.push_back(point_text(point.noise));
    const Design design = best_noise(s, at.trace);
    const Eigen::VectorXd deviations = diagonal_of(design.covariance).cwiseSqrt();
    figure.add(equal_trace(at.trace));
    if (deviations.minCoeff() < kFrom || deviations.maxCoeff() > kTo) continue;  // beyond the plane
    best.x.push_back(deviations(0));
    best.y.push_back(deviations(1));
    best.z.push_back(design.value);
    best.labels.emplace_back("best");
  }
  marks.mark = Mark::points;
  best.mark = Mark::points;
  figure.add(std::move(marks));
  figure.add(std::move(best));
  figure.set_caption(
      "Dark is private. Along a line the accuracy is the same; the noise that the text names and "
      "the "
      "best noise stand on it.");
  return figure;
}

Json ours(int intervals) {
  Json json = {{"claim", name(Claim::exact)},
               {"privacy_cost", kCostMethod},
               {"range", {kFrom, kTo}},
               {"grid_points_per_axis", intervals + 1}};
  for (const Marked& point : marked_points()) {
    const NoisePlanePoint at = noise_plane_point(point.sensitivities, point.noise);
    json["S " + point_text(point.sensitivities)]["noise " + point_text(point.noise)] = {
        {"privacy_cost", at.privacy_cost},
        {"trace", at.trace},
        {"best_privacy_cost_at_this_trace", best_noise(point.sensitivities, at.trace).value}};
  }
  return json;
}

}  // namespace

PartResult reproduce_figure1(RunScale scale) {
  const int intervals = scale == RunScale::quick ? 45 : 90;  // steps of 0.1 or 0.05
  PartResult result;
  result.blocks.emplace_back(Statement{
      StatementKind::info,
      "Noise diag(x, y) dW against gradients that differ by S: the privacy cost is S_1^2/x^2 + "
      "S_2^2/y^2, twice the KL per unit of training time; the accuracy lost is taken to be x^2 + "
      "y^2."});
  result.blocks.emplace_back(points_table());
  for (const Vector2d& s : paper_sensitivities()) {
    const auto points = plane(s, intervals);
    result.blocks.emplace_back(panel(s, points));
    result.files.push_back({key_of(s) + ".csv", to_csv(plane_table(points))});
  }
  result.files.push_back({"figure1_points.csv", to_csv(points_table())});
  result.findings = findings();
  result.paper = {{"figure", 1},
                  {"S", {{10, 10}, {10, 1}}},
                  {"noises_named", {{4, 3}, {4, 4}, {4, 1}}},
                  {"numbers", nullptr},
                  {"not_stated", {"range of the noise", "values of the colours"}}};
  result.ours = ours(intervals);
  return result;
}

}  // namespace sfumato::apps
