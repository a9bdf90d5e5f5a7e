#include "sfumato/fit/imagined.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <variant>
#include <vector>

namespace sfumato {

using Eigen::Index;
using Eigen::VectorXd;

namespace {

/// Half the range of a target is so many of its deviations: the eight tables of docs/results/fit.md that are quantities have 2.6 to 8, 4 in their middle.
constexpr double kDeviations = 4.0;
/// Deviation of the logits of classes that can be told apart: right in about nine of ten.
constexpr double kLogitDeviation = 2.0;
/// Skewness of residuals: that of a gamma distribution of shape 4.
constexpr double kSkewness = 1.0;
/// Share of values that are missing where a feature of its own says so.
constexpr double kMissingShare = 0.1;
}  // namespace

double typical_curvature(const PublicTable& table, FitModel model) {
  if (model == FitModel::ridge) return 1.0;
  const double share = 1.0 / std::max(2.0, static_cast<double>(table.classes.size()));
  return 0.6 * share * (1.0 - share);
}
double largest_curvature(FitModel model) {
  return model == FitModel::ridge ? 1.0 : model == FitModel::logistic ? 0.25 : 0.5;
}
double residual_scale(const PublicTable& table, FitModel model) {
  return model == FitModel::ridge ? table.target_bound() : 1.0;
}

ImaginedTable imagined_table(const PublicTable& table, FitModel model, double bound) {
  std::vector<double> squares;
  double numeric = 0.0, falling = 0.0;
  if (table.intercept) squares.push_back(1.0);
  for (const FeatureColumn& column : table.features) {
    if (const auto* category = std::get_if<CategoryColumn>(&column)) {
      const std::size_t levels = category->levels.size();
      squares.insert(squares.end(), levels - 1, 1.0 / static_cast<double>(levels));
    } else {
      ++numeric;
      falling += 1.0 / (numeric * numeric);
    }
    if (has_indicator(column)) squares.push_back(kMissingShare);
  }
  for (double j = 1.0; j <= numeric; ++j) squares.push_back(numeric / 3.0 / (j * j) / falling);
  std::sort(squares.begin(), squares.end(), std::greater<>());
  ImaginedTable prior;
  prior.eigenvalues =
      Eigen::Map<const VectorXd>(squares.data(), static_cast<Index>(squares.size()));
  prior.eigenvalues *= std::min(1.0, bound * bound / prior.eigenvalues.sum());
  prior.row_length = std::sqrt(prior.eigenvalues.sum());
  prior.eigenvalues *= typical_curvature(table, model);
  const double deviation =
      model == FitModel::ridge ? residual_scale(table, model) / kDeviations : kLogitDeviation;
  prior.variance = typical_curvature(table, model) * deviation * deviation;
  const Eigen::ArrayXd roots = prior.eigenvalues.array().sqrt();
  prior.optimum = (prior.variance / roots.sum() / roots).sqrt().matrix();
  return prior;
}

ClippedDescent imagined_clipping(const PublicTable& table, FitModel model, double clip_factor,
                                 double longer) {
  if (model != FitModel::ridge) {
    // At the start every class is as likely as another.
    const double classes = std::max(2.0, static_cast<double>(table.classes.size()));
    const double start = model == FitModel::logistic ? 0.5 : std::sqrt(1.0 - 1.0 / classes);
    return {std::min(1.0, clip_factor * longer / start), 0.0};
  }
  const double at = kDeviations * clip_factor * longer;
  const double inside = std::erf(at / std::sqrt(2.0));
  const double density = std::exp(-0.5 * at * at) / std::sqrt(2.0 * std::acos(-1.0));
  const double shift = kSkewness / 6.0 * 2.0 * at * density / inside;
  return {inside, shift * shift};
}

DescentShape imagined_descent(const FitPlan& plan, const PlannedDescent& descent) {
  return {DescentMetric::isotropic,
          0.0,
          descent.learning_rate,
          static_cast<double>(descent.steps),
          static_cast<double>(descent.average_last),
          descent.noise_multiplier,
          0.0,
          plan.rows};
}

double predicted_descent_loss(DescentShape shape, const ClippedDescent& clipped,
                              const ImaginedTable& imagined) {
  // What is left of a step pulls less, while its noise stays.
  shape.learning_rate *= clipped.slower;
  shape.noise_multiplier /= clipped.slower;
  return 2.0 * predicted_excess_loss(imagined.eigenvalues, imagined.optimum, shape).total() /
             imagined.variance +
         clipped.bias;
}

}  // namespace sfumato
