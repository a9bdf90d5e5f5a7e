// Noisy descent in a metric that was released first: anisotropic noise (Spec §22.4).
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "sfumato/fit/imagined.hpp"
#include "sfumato/fit/mechanism.hpp"
#include "sfumato/fit/moments.hpp"
#include "sfumato/fit/sensitivity.hpp"

namespace sfumato {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace {

/// Clip factor of classes where the loss predicted with so wide a clip is one that nobody would see: few rows then pull less than they would.
constexpr double kWideClassClip = 1.0, kWideClassLoss = 0.005;
/// Steps of the descent of several classes, whose losses are flatter than those of two, where the loss predicted for 40 of them is so small.
constexpr double kMoreClassStepsLoss = 0.05;
constexpr std::uint64_t kMoreClassSteps = 120;
/// Steps of the descent of squares, where the loss predicted for 24 of them is so small (Spec §22.4).
struct MoreSteps {
  double predicted_loss;
  std::uint64_t steps;
};
constexpr MoreSteps kMoreSteps[] = {{0.0001, 192}, {0.0005, 96}};
/// Wider clips of squares, for residuals with longer tails than imagined: what these cost at the widest usual clip, as a share of the variance, and
/// falling like 1 / clip^2, is weighed against the noise (Spec §22.4).
constexpr double kWideClipFactors[] = {1.35, 1.8, 2.7, 3.6};
constexpr double kTails = 0.0002, kWidestUsual = 0.9;

WhitenedFit& own(FitPlan& plan) { return std::get<WhitenedFit>(plan.how); }
const WhitenedFit& own(const FitPlan& plan) { return std::get<WhitenedFit>(plan.how); }

/// The clip factor of least predicted loss for so many steps.
FitPlan with_steps(const FitSetup& setup, const FitSettings& settings, FitPlan plan,
                   std::uint64_t steps, double* best) {
  PlannedDescent& descent = own(plan).descent;
  descent.steps = steps;
  descent.average_last = settings.average_last.value_or(std::max<std::uint64_t>(1, 2 * steps / 3));
  descent.noise_multiplier =
      step_multiplier(plan, own(plan).metric.share, steps, setup.table.relation);
  FitPlan chosen = plan;
  *best = std::numeric_limits<double>::infinity();
  for (const double clip_factor : clip_factors(settings, plan)) {
    FitPlan tried = plan;
    own(tried).descent.clip_factor = clip_factor;
    own(tried).metric.floor = metric_floor(
        tried, clip_factor,
        descent.noise_multiplier / std::sqrt(static_cast<double>(descent.average_last)));
    const double loss = predicted_loss(tried, setup.table);
    if (loss < *best) *best = loss, chosen = tried;
  }
  return chosen;
}

/// The plan with a wider clip where noise is so small that rows far from their prediction matter more.
FitPlan with_tails(const FitSetup& setup, const FitPlan& plan) {
  if (setup.settings.clip_factor || own(plan).descent.clip_factor != kWidestUsual) return plan;
  FitPlan chosen = plan;
  double best = predicted_loss(plan, setup.table) + kTails;
  for (const double clip_factor : kWideClipFactors) {
    FitSettings wide = setup.settings;
    wide.clip_factor = clip_factor;
    const double wider = clip_factor / kWidestUsual;
    FitPlan tried = plan;
    own(tried).metric.rows_in_metric = wider * kRowsInMetric;
    double loss = 0.0;
    tried = with_steps(setup, wide, tried, own(plan).descent.steps, &loss);
    const double tails = kTails / (wider * wider);
    if (loss + tails < best) best = loss + tails, chosen = tried;
  }
  return chosen;
}

/// Steps and clip of classes: more of both where the noise is small.
void choose_classes(const FitSetup& setup, FitPlan* plan) {
  const FitSettings& settings = setup.settings;
  double best = 0.0;
  FitPlan chosen = with_steps(setup, settings, *plan, own(*plan).descent.steps, &best);
  if (plan->model == FitModel::softmax && !settings.steps && best <= kMoreClassStepsLoss) {
    chosen = with_steps(setup, settings, *plan, kMoreClassSteps, &best);
  }
  if (!settings.clip_factor && plan->interval_share == 0.0) {
    FitSettings wide = settings;
    wide.clip_factor = kWideClassClip;
    const FitPlan tried = with_steps(setup, wide, *plan, own(chosen).descent.steps, &best);
    if (best <= kWideClassLoss) chosen = tried;
  }
  *plan = chosen;
}

void choose_squares(const FitSetup& setup, FitPlan* plan) {
  double best = 0.0;
  FitPlan chosen = with_steps(setup, setup.settings, *plan, own(*plan).descent.steps, &best);
  // Steps over averaged iterates is what noise depends on in directions that are resolved: there more steps cost time alone, and they reach directions that are
  // weaker than imagined. With fewer rows they let noise through instead.
  if (!setup.settings.steps) {
    for (const MoreSteps& more : kMoreSteps) {
      if (best > more.predicted_loss) continue;
      chosen = with_steps(setup, setup.settings, *plan, more.steps, &best);
      break;
    }
  }
  *plan = with_tails(setup, chosen);
}

void plan_whitened(const FitSetup& setup, FitPlan* plan) {
  WhitenedFit how{setup.usual, planned_metric(setup.settings)};
  how.descent.noise_multiplier =
      step_multiplier(*plan, how.metric.share, how.descent.steps, setup.table.relation);
  plan->how = how;
  if (plan->model == FitModel::ridge) {
    choose_squares(setup, plan);
  } else {
    choose_classes(setup, plan);
  }
}

std::vector<FitRelease> releases(const FitPlan& plan, NeighbouringRelation relation) {
  return {metric_release(plan, relation),
          descent_release(plan, 1.0 - own(plan).metric.share, relation)};
}

double predict(const FitPlan& plan, const PublicTable& table) {
  const auto& [descent, metric] = own(plan);
  const ImaginedTable prior = imagined_table(table, plan.model, plan.bound);
  const double curvature = typical_curvature(table, plan.model);
  DescentShape shape = imagined_descent(plan, descent);
  const auto d = static_cast<double>(table.dim());
  const double noise = second_moment_mu(plan.bound, 1.0, table.relation) / plan.round_mu();
  shape.metric = DescentMetric::whitened;
  // Every further round's noise is a share of what the metric before it left (metric.hpp).
  double ridge = metric.ridge * noise * std::sqrt(2.0 * d) / plan.rows;
  const double again = metric.ridge * std::sqrt(2.0 * d) / plan.rows * metric.rows_in_metric *
                       metric.rows_in_metric * d * second_moment_mu(1.0, 1.0, table.relation) /
                       plan.round_mu();
  for (std::uint64_t round = 1; round < metric.rounds; ++round) ridge *= std::min(1.0, again);
  shape.metric_ridge = curvature * (ridge + metric.floor * d);
  const double effective = whitening_gain(prior.eigenvalues, shape.metric_ridge, 0.0).effective_dim;
  // The step is taken in the metric of x, in which the loss has its curvature.
  shape.learning_rate *= curvature;
  shape.noise_multiplier /= std::sqrt(curvature);
  shape.clip =
      descent.clip_factor * residual_scale(table, plan.model) * std::sqrt(std::max(1.0, effective));
  // Rows are about as long as the clip takes them to be.
  return predicted_descent_loss(shape, imagined_clipping(table, plan.model, descent.clip_factor),
                                prior);
}

/// Rows become 2 sqrt(p (1 - p)) z, no longer than the bound; null records stay 0.
void weigh_by_curvature(const VectorXd& u, const VectorXd& target, double bound, RowMajor* z) {
  for (Index i = 0; i < z->rows(); ++i) {
    const double p = 1.0 / (1.0 + std::exp(-z->row(i).dot(u)));
    z->row(i) *= target(i) < 0.0 ? 0.0 : 2.0 * std::sqrt(p * (1.0 - p));
  }
  shorten_rows(bound, z);
}

double clip(const FitPlan& plan, const PublicTable& table, const ReleasedMetric& metric) {
  return own(plan).descent.clip_factor * residual_scale(table, plan.model) *
         std::sqrt(metric.effective_dim);
}

void run(const FitContext& context, PrivateFit* fit) {
  const auto& [rows, table, plan, key, observer] = context;
  fit->metric = metric_for(context, fit);
  const MatrixXd& root = fit->metric->root;
  fit->clip = clip(plan, table, *fit->metric);
  RowMajor z = in_metric(rows.features, root);
  const MatrixXd u = descend(z, context, fit);
  fit->parameters = root.transpose() * u;
  if (plan.interval_share == 0.0) return;
  const double bound = kRowsInMetric * std::sqrt(fit->metric->effective_dim);
  weigh_by_curvature(u.col(0), rows.target, bound, &z);
  ReleaseBits more = context.bits(FitStream::curvature);
  fit->curvature = release_moments(z, {bound, plan.interval_mu(), static_cast<double>(table.rows)},
                                   {table.relation, plan.noise_mode, more}, observer);
  if (fit->exposure) expose_moments(z, fit->curvature->noise_std, &*fit->exposure);
}

double canary(const CanaryContext& context) {
  double score = 0.0;
  const ReleasedMetric metric = metric_with_canary(context, &score);
  return score + descent_with_canary(context, metric.root,
                                     clip(context.made.plan, context.made.table, metric))
                     .score;
}

}  // namespace

const MechanismRules& WhitenedFit::rules() {
  static const MechanismRules all = {
      "whitened",
      "descent with noise shaped by a privately released metric",
      true,
      RangeMargin::one_halving,
      [](FitModel, NoiseMode) { return std::optional<InvalidArgument>(); },
      [](const PublicTable&, const FitSettings&) { return true; },
      plan_whitened,
      releases,
      predict,
      run,
      canary};
  return all;
}

}  // namespace sfumato
