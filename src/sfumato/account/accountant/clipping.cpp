#include "sfumato/account/accountant/clipping.hpp"

#include <fmt/format.h>

#include <cmath>

#include "sfumato/account/contour/rounding_unit.hpp"
#include "sfumato/core/error.hpp"
#include "sfumato/core/overloaded.hpp"
#include "sfumato/math/symmetric_eigen.hpp"

namespace sfumato {
namespace {

void require_clip(double clip) {
  if (std::isfinite(clip) && clip >= 0.0) return;
  throw InvalidArgument(fmt::format("a clip of {} is not a finite number >= 0", clip),
                        "Pass the largest norm of a contribution", Where::key("clips"));
}

/// A sum of n squares and a root err by less than n + 4 units.
double rounded_up(double value, std::size_t terms) {
  return value * (1.0 + 2.0 * kUnit * (static_cast<double>(terms) + 4.0));
}

double root_of_ratios(const std::vector<double>& clips, const std::vector<double>& deviations) {
  if (clips.size() != deviations.size() || clips.empty()) {
    throw InvalidArgument(fmt::format("{} clips for {} noises", clips.size(), deviations.size()),
                          "Pass one clip and one noise for each", Where::key("noise_stds"));
  }
  double largest = 0.0;
  std::vector<double> ratios;
  for (std::size_t i = 0; i < clips.size(); ++i) {
    require_clip(clips[i]);
    if (!(std::isfinite(deviations[i]) && deviations[i] > 0.0)) {
      throw InvalidArgument(fmt::format("noise of deviation {} hides nothing", deviations[i]),
                            "Pass finite positive numbers", Where::key("noise_stds"));
    }
    ratios.push_back(clips[i] / deviations[i]);
    largest = std::max(largest, ratios.back());
  }
  if (largest == 0.0) return 0.0;
  double sum = 0.0;  // in units of the largest: no square overflows
  for (const double ratio : ratios) sum += (ratio / largest) * (ratio / largest);
  return rounded_up(largest * std::sqrt(sum), clips.size());
}

/// The least eigenvalue, rounded down by what the decomposition may err.
double least_eigenvalue(const Covariance& sigma) {
  return std::visit(Overloaded{[](const Isotropic& c) { return c.variance; },
                               [](const Diagonal& c) { return c.variances.minCoeff(); },
                               [](const auto& c) {
                                 const Eigen::MatrixXd matrix = dense(Covariance(c));
                                 const SymmetricEigen solver(matrix, SymmetricEigen::Want::values);
                                 const double error = 16.0 * kUnit *
                                                      static_cast<double>(matrix.rows()) *
                                                      solver.eigenvalues().cwiseAbs().maxCoeff();
                                 return solver.eigenvalues().minCoeff() - error;
                               }},
                    sigma);
}

}  // namespace

double contribution_in_metric(double clip) {
  require_clip(clip);
  return clip;
}

double contribution_of_ball(double clip, const Covariance& sigma) {
  require_clip(clip);
  const double least = least_eigenvalue(sigma);
  if (!(least > 0.0)) {
    throw NumericalFailure("Sigma is singular: some direction has no noise",
                           "Add noise to every direction, or clip in the metric of Sigma");
  }
  return rounded_up(clip / std::sqrt(least), 1);
}

double contribution_of_box(const std::vector<double>& clips, const std::vector<double>& variances) {
  std::vector<double> deviations;
  for (const double variance : variances) {
    deviations.push_back(variance > 0.0 ? std::sqrt(variance) * (1.0 - 2.0 * kUnit) : variance);
  }
  return root_of_ratios(clips, deviations);
}

double contribution_of_layers(const std::vector<double>& clips,
                              const std::vector<double>& noise_stds) {
  return root_of_ratios(clips, noise_stds);
}

double multiplier_of(double contribution) {
  if (!(contribution > 0.0 && std::isfinite(contribution))) {
    throw InvalidArgument(fmt::format("a contribution of {} has no noise multiplier", contribution),
                          "Pass a finite positive number");
  }
  return (1.0 - 2.0 * kUnit) / contribution;
}

}  // namespace sfumato
