// Noisy descent of bounded rows of which only the last iterate is shown (Spec §22.5).
#include <cmath>
#include <vector>

#include "sfumato/fit/imagined.hpp"
#include "sfumato/fit/mechanism.hpp"
#include "sfumato/fit/sensitivity.hpp"

namespace sfumato {
namespace {

const LastIterateFit& own(const FitPlan& plan) { return std::get<LastIterateFit>(plan.how); }

void plan_last_iterate(const FitSetup& setup, FitPlan* plan) {
  const auto& [table, settings, usual] = setup;
  LastIterateFit how{usual, 0.0};
  const double smoothness = largest_curvature(plan->model) * plan->bound * plan->bound *
                            static_cast<double>(table.rows) / plan->rows;
  how.ridge = settings.ridge.value_or(0.005 * smoothness);
  how.descent.learning_rate = settings.learning_rate.value_or(2.0 / (2.0 * how.ridge + smoothness));
  how.descent.steps = settings.steps.value_or(
      static_cast<std::uint64_t>(std::ceil(2.0 / (how.descent.learning_rate * how.ridge))));
  how.descent.average_last = 1;
  const double unit =
      last_iterate_of(how.descent.learning_rate, how.ridge, smoothness, how.descent.steps, 1.0).mu;
  const double doubled = table.relation == NeighbouringRelation::replace_one ? 2.0 : 1.0;
  how.descent.noise_multiplier = doubled * unit / plan->fit_mu() * (1.0 + 1e-12);
  plan->how = how;
}

/// The longest gradient, in bounds of the rows.
double longest_gradient(FitModel model) {
  return model == FitModel::softmax ? std::sqrt(2.0) : 1.0;
}

/// No gradient exceeds this, so that none is clipped: clipping would break the contraction (Spec §22.5).
double clip(const FitPlan& plan) {
  return longest_gradient(plan.model) * plan.bound * (1.0 + 1e-8);
}

double predict(const FitPlan& plan, const PublicTable& table) {
  const auto& [descent, ridge] = own(plan);
  const ImaginedTable prior = imagined_table(table, plan.model, plan.bound);
  DescentShape shape = imagined_descent(plan, descent);
  shape.average_last = 1.0;
  shape.clip = plan.bound * longest_gradient(plan.model);
  const double ridge_bias =
      0.5 * (ridge * ridge * prior.optimum.array().square() * prior.eigenvalues.array() /
             (prior.eigenvalues.array() + ridge).square())
                .sum();
  return 2.0 *
         (predicted_excess_loss(prior.eigenvalues, prior.optimum, shape).total() + ridge_bias) /
         prior.variance;
}

void run(const FitContext& context, PrivateFit* fit) {
  fit->clip = clip(context.plan);
  fit->parameters = descend(context.rows.features, context, fit);
}

double canary(const CanaryContext& context) {
  const auto d = context.made.table.dim();
  const Eigen::MatrixXd last =
      descent_with_canary(context, Eigen::MatrixXd::Identity(d, d), clip(context.made.plan)).last;
  // The canary is of the second class: its gradient at 0 pulls there, and of several away from the others.
  return last.cols() == 1 ? last(0, 0) : last(0, 1) - last.row(0).mean();
}

}  // namespace

const MechanismRules& LastIterateFit::rules() {
  static const MechanismRules all = {
      "last_iterate",
      "noisy descent of which only the last iterate is shown",
      false,
      RangeMargin::none,
      [](FitModel model, NoiseMode mode) -> std::optional<InvalidArgument> {
        if (model == FitModel::ridge) {
          return unproven("last_iterate", model,
                          "gradients of squares are unbounded, and clipped ones do not contract");
        }
        if (mode == NoiseMode::gaussian) return {};
        return InvalidArgument(
            "noise on a grid has no last-iterate guarantee: rounding breaks the contraction that "
            "it rests on",
            "Use `noise_mode` = gaussian, or another mechanism", Where::key("mechanism"));
      },
      [](const PublicTable&, const FitSettings&) { return true; },
      plan_last_iterate,
      [](const FitPlan& plan, NeighbouringRelation) {
        const double mu = plan.fit_mu();
        return std::vector{FitRelease{"last iterate of a noisy descent", {HiddenIterates{mu}}, mu}};
      },
      predict,
      run,
      canary};
  return all;
}

}  // namespace sfumato
