#include "sfumato/design/shape_figures.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "sfumato/design/budget.hpp"
#include "sfumato/math/symmetric_eigen.hpp"

namespace sfumato {
namespace {

using Eigen::Index;

constexpr Index kMostCoordinates = 400;
constexpr int kAround = 72;  // points of an ellipse

Series ellipse(std::string key, std::string title, double first, double second) {
  Series series{std::move(key), std::move(title),        {}, {}, {},
                Claim::exact,   "one standard deviation"};
  for (int i = 0; i <= kAround; ++i) {
    const double angle = 2.0 * std::numbers::pi * i / kAround;
    series.x.push_back(std::sqrt(first) * std::cos(angle));
    series.y.push_back(std::sqrt(second) * std::sin(angle));
  }
  return series;
}

Figure ellipse_figure(double first, double second, double isotropic) {
  Figure figure("noise_ellipse", "Shape of the noise in the two directions that get most of it",
                Mark::line, {"direction with most noise", "parameter units"},
                {"second direction", "parameter units"});
  figure.add(ellipse("designed", "designed", first, second));
  figure.add(ellipse("isotropic", "isotropic, same error", isotropic, isotropic));
  figure.set_caption("Ellipses of one standard deviation; both noises cost the same accuracy.");
  return figure;
}

Figure spectrum_figure(const Eigen::VectorXd& ascending, double isotropic) {
  Figure figure("noise_spectrum", "Spectrum of the noise", Mark::points, {"direction, by variance"},
                {"variance", "", Scale::log});
  Series designed{"designed", "designed", {}, {}, {}, Claim::exact, "eigenvalues of Sigma"};
  Series same{"isotropic",  "isotropic, same error", {}, {}, {},
              Claim::exact, "tr(W Sigma) / tr(W)"};
  same.mark = Mark::line;
  const Index n = ascending.size();
  for (Index i = 0; i < n; ++i) {
    designed.x.push_back(static_cast<double>(i + 1));
    designed.y.push_back(std::max(0.0, ascending(n - 1 - i)));
  }
  same.x = {1.0, static_cast<double>(n)};
  same.y = {isotropic, isotropic};
  figure.add(std::move(designed));
  figure.add(std::move(same));
  figure.set_caption("Above the line the design adds more noise than isotropic noise, below less.");
  return figure;
}

}  // namespace

void add_shape_figures(Document& document, const DesignAnswer& answer, const Covariance& noise) {
  const Index n = answer.dimension();
  if (n < 2 || n > kMostCoordinates || std::holds_alternative<Isotropic>(noise)) return;
  const SymmetricEigen eigen(dense(noise), SymmetricEigen::Want::values);
  if (!eigen.converged()) return;
  const Eigen::VectorXd& values = eigen.eigenvalues();
  if (!(values(n - 1) > 0.0)) return;
  const double isotropic = weighted_trace(answer.measure.weights, noise) /
                           weighted_trace(answer.measure.weights, Isotropic{1.0, n});
  document.add(ellipse_figure(values(n - 1), std::max(0.0, values(n - 2)), isotropic));
  if (n > 2) document.add(spectrum_figure(values, isotropic));
}

}  // namespace sfumato
