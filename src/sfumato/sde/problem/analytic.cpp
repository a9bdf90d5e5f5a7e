#include "sfumato/sde/problem/analytic.hpp"

#include <fmt/format.h>

#include <utility>

#include "sfumato/core/suggest.hpp"
#include "sfumato/sde/family/formula.hpp"
#include "sfumato/sde/family/linear.hpp"
#include "sfumato/sde/family/polynomial.hpp"

namespace sfumato {
namespace {

using Eigen::Matrix2d;
using Eigen::MatrixXd;
using Eigen::Vector2d;
using Eigen::VectorXd;

VectorXd scalar(double value) { return VectorXd::Constant(1, value); }

GaussianLaw normal(double mean, double variance) { return {scalar(mean), Isotropic{variance, 1}}; }

/// dX = -rate (X - target) dt + sqrt(variance) dW.
OuProcess ou(double rate, double target, double variance) {
  return {MatrixXd::Constant(1, 1, rate), scalar(rate * target), Isotropic{variance, 1}};
}

AnalyticPair linear_pair(std::string name, std::string description, const OuProcess& p,
                         const OuProcess& q, const GaussianLaw& start) {
  return {std::move(name), std::move(description),    linear_diffusion(p), linear_diffusion(q),
          start,           OuPair{p, start, q, start}};
}

AnalyticPair no_commute() {
  const Matrix2d curvature = (Matrix2d() << 2.0, 0.5, 0.5, 1.0).finished();
  const Matrix2d noise = (Matrix2d() << 1.0, 0.4, 0.4, 0.5).finished();
  const Vector2d target(0.3, -0.2);
  return linear_pair("ou_no_commute",
                     "A = [[2, .5], [.5, 1]], Sigma = [[1, .4], [.4, .5]]; minimisers 0, (.3, -.2)",
                     {curvature, Vector2d::Zero(), Dense{noise}},
                     {curvature, curvature * target, Dense{noise}},
                     {Vector2d::Zero(), Isotropic{0.2, 2}});
}

std::vector<AnalyticPair> make_pairs() {
  std::vector<AnalyticPair> pairs;
  const GaussianLaw well_start = normal(0.3, 0.2);
  pairs.push_back({"double_well_equal",
                   "b = x - x^3, b' = b + 0.2 + 0.1 x, Sigma = Sigma' = 0.64, p0 = N(0.3, 0.2)",
                   double_well(0.64),
                   double_well(0.64, 0.2, 0.1),
                   well_start,
                   {}});
  pairs.push_back(
      {"double_well_unequal",
       "b = x - x^3, b' = b + 0.2 + 0.1 x, Sigma = 0.64, Sigma' = 0.8, p0 = N(0.3, 0.2)",
       double_well(0.64),
       double_well(0.8, 0.2, 0.1),
       well_start,
       {}});
  // b = -x - ((1 - S)(-2x) - S') with 1 - S = -0.5/(1 + x^2) and S' = -x/(1 + x^2)^2.
  pairs.push_back({"multiplicative",
                   "Sigma = 1 + 0.5/(1 + x^2), Sigma' = 1, b' = -x, b such that the printed Phi is "
                   "zero, p0 = N(0, 0.5)",
                   formula_diffusion({"x"}, {"-x - (x/(1 + x^2) + x/(1 + x^2)^2)"},
                                     std::vector<std::string>{"1 + 0.5/(1 + x^2)"}),
                   linear_diffusion(ou(1.0, 0.0, 1.0)),
                   normal(0.0, 0.5),
                   {}});
  const std::string well = "x^4/4 - x^2/2 + (y - x/2)^2";
  const Covariance half = Isotropic{0.5, 2};
  pairs.push_back({"wells_2d",
                   "f = x^4/4 - x^2/2 + (y - x/2)^2, f' = f - 0.2 x - 0.1 y, Sigma = 0.5 I, "
                   "p0 = N((0.3, 0), 0.2 I)",
                   potential_diffusion({"x", "y"}, well, half),
                   potential_diffusion({"x", "y"}, well + " - 0.2 x - 0.1 y", half),
                   {Vector2d(0.3, 0.0), Isotropic{0.2, 2}},
                   {}});
  pairs.push_back(linear_pair("ou_path_bound", "k = 1, k' = 1.5, x'* = 0.3, sigma = 1, x0 = 0.5",
                              ou(1.0, 0.0, 1.0), ou(1.5, 0.3, 1.0), point_law(scalar(0.5))));
  pairs.push_back(linear_pair("ou_unequal_noise",
                              "b = -x/2, Sigma = 0.75; b' = -x, Sigma' = 1; p0 = N(0, 1/2)",
                              ou(0.5, 0.0, 0.75), ou(1.0, 0.0, 1.0), normal(0.0, 0.5)));
  pairs.push_back(linear_pair("ou_sharp", "k = k' = 1, minimisers 0 and 1, sigma = 1, x0 = 0",
                              ou(1.0, 0.0, 1.0), ou(1.0, 1.0, 1.0), point_law(scalar(0.0))));
  pairs.push_back(linear_pair("ou_far_shift", "k = k' = 1, minimisers 0 and 100, sigma = 3, x0 = 0",
                              ou(1.0, 0.0, 9.0), ou(1.0, 100.0, 9.0), point_law(scalar(0.0))));
  pairs.push_back(linear_pair("ou_far_start", "k = 1, k' = 2, sigma = 1, x0 = 100",
                              ou(1.0, 0.0, 1.0), ou(2.0, 0.0, 1.0), point_law(scalar(100.0))));
  pairs.push_back(linear_pair("ou_noise_ratio",
                              "k = k' = 1, sigma = 10, sigma' = 0.1, p0 = N(0, 1)",
                              ou(1.0, 0.0, 100.0), ou(1.0, 0.0, 0.01), normal(0.0, 1.0)));
  pairs.push_back(linear_pair("ou_path_time", "k = 2, k' = 0.1, sigma = 1, x0 = 10",
                              ou(2.0, 0.0, 1.0), ou(0.1, 0.0, 1.0), point_law(scalar(10.0))));
  pairs.push_back(no_commute());
  return pairs;
}

}  // namespace

const std::vector<AnalyticPair>& analytic_pairs() {
  static const std::vector<AnalyticPair> pairs = make_pairs();
  return pairs;
}

const AnalyticPair& analytic_pair(std::string_view name) {
  std::vector<std::string> known;
  for (const AnalyticPair& pair : analytic_pairs()) {
    if (pair.name == name) return pair;
    known.push_back(pair.name);
  }
  throw InvalidArgument(fmt::format("there is no analytic pair named \"{}\"", name),
                        suggestion(name, known, "pairs"));
}

}  // namespace sfumato
