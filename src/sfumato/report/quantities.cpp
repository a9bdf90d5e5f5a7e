#include "sfumato/report/quantities.hpp"

#include <algorithm>
#include <array>

namespace sfumato {
namespace {

constexpr auto kQuantities = std::to_array<Quantity>({
    {"account", "epsilon_upper", "epsilon.upper", "delta",
     "proven: no pair of neighbours has a larger epsilon"},
    {"account", "epsilon_lower", "epsilon.lower", "delta",
     "no proof of these releases can give a smaller epsilon"},
    {"account", "epsilon_renyi", "epsilon.renyi", "delta",
     "what accountants by Renyi divergence print, a larger bound"},
    {"account", "epsilon_clt", "epsilon.clt", "delta",
     "normal approximation of the privacy loss, no bound"},
    {"account", "delta_upper", "delta.upper", "epsilon", "proven upper bound on delta"},
    {"account", "delta_lower", "delta.lower", "epsilon",
     "no proof of these releases can give a smaller delta"},
    {"account", "advantage", "advantage", "delta",
     "of the best attack on membership, over a coin toss"},
    {"account", "tpr_at_", "", "delta",
     "true-positive rate of the best attack at that false-positive rate"},
    {"account", "attack_accuracy", "attack_accuracy", "delta",
     "right guesses of the best attack, where half are members"},
    {"account", "epsilon_untuned", "epsilon.untuned", "delta", "of one run, not tuned"},
    {"account", "epsilon_tuned_simple", "epsilon.tuned_simple", "delta",
     "of the best of several runs, by the simple bound"},
    {"account", "epsilon_tuned_sharp", "epsilon.tuned_sharp", "delta",
     "of the best of several runs, by the sharp bound"},
    {"account", "epsilon_all_runs", "epsilon.all_runs", "delta",
     "of releasing as many runs as are expected"},
    {"account", "epsilon_tuned_attained", "epsilon.tuned_attained", "delta",
     "some run with this curve and some score reveal that much"},
    {"account", "mu_upper", "mu.upper", "outside",
     "mu of Gaussian privacy outside an event of that probability"},
    {"account", "mu_lower", "mu.lower", "outside", "no smaller mu holds there"},
    {"account", "mu_regret", "mu.regret", "outside",
     "how far the curve of mu is from the proven one, at most"},
    {"account", "reconstruction", "reconstruction", "baseline",
     "success of the best attacker, where the baseline is what is reached without the outputs"},
    {"account", "noise_multiplier", "noise_multiplier", "", "the least that reaches the target"},
    {"account", "steps", "steps", "", "the most steps within the target"},
    {"account", "epochs", "epochs", "", "the most epochs within the target"},
    {"account", "batches_per_epoch", "batches_per_epoch", "",
     "the fewest batches of an epoch within the target"},

    {"audit", "epsilon_lower", "epsilon.lower", "delta, policy",
     "no smaller epsilon can hold, at the stated confidence"},
    {"audit", "epsilon_maximum", "epsilon.maximum", "delta, policy",
     "the most that so many models could have shown"},
    {"audit", "epsilon_proven", "epsilon.proven", "delta, policy",
     "upper bound from the settings of the training"},
    {"audit", "epsilon_path_kl", "epsilon.path_kl", "delta, policy",
     "estimate of a bound from the steps of training"},
    {"audit", "delta_lower", "delta.lower", "epsilon, policy",
     "lower bound on delta, at the stated confidence"},
    {"audit", "delta_proven", "delta.proven", "epsilon, policy",
     "upper bound from the settings of the training"},
    {"audit", "delta_path_kl", "delta.path_kl", "epsilon, policy",
     "estimate of a bound from the steps of training"},
    {"audit", "mu_lower", "mu.lower", "policy",
     "lower bound on mu of Gaussian differential privacy"},
    {"audit", "mu_proven", "mu.proven", "policy", "upper bound from the settings of the training"},
    {"audit", "mu_path_kl", "mu.path_kl", "policy",
     "estimate of a bound from the steps of training"},
    {"audit", "maximum_auditable_epsilon", "maximum_auditable_epsilon", "eps, delta, thresholds",
     "a plan: the most to show"},
    {"audit", "runs_needed", "runs_needed", "eps, delta, thresholds",
     "of a plan: models per data set that could refute it"},

    {"bench engine", "us_per_model_iteration", "", "setting",
     "microseconds of one core for one training step of one model"},
    {"bench engine", "roofline_fraction", "", "setting", "of what this machine could do at best"},

    {"bound", "kl_forward", "kl.forward", "by, time",
     "KL(D||D') in nats, by each method that applies"},
    {"bound", "kl_reverse", "kl.reverse", "by, time",
     "KL(D'||D) in nats, by each method that applies"},
    {"bound", "advantage", "advantage", "evidence, time",
     "of the best attack that sees the parameters"},
    {"bound", "epsilon", "epsilon", "evidence, time, delta", "of this one pair, at that delta"},

    {"budget show", "epsilon_spent", "", "delta",
     "upper bound on the epsilon of all booked runs together"},
    {"budget show", "epsilon_limit", "", "delta", "what all runs may spend together"},
    {"budget show", "runs", "", "", "runs that were booked"},

    {"data", "files", "", "check", "files of data sets for which the check came out so"},
    {"data", "records_found", "", "set, part", "records of the data set in the files found"},

    {"design", "privacy_cost", "privacy_cost", "error",
     "the largest s^T Sigma^{-1} s over the differences s"},
    {"design", "lower_bound", "lower_bound", "error", "no covariance within the budget costs less"},
    {"design", "gain_over_isotropic", "gain_over_isotropic", "error",
     "isotropic cost over that of the design"},
    {"design", "kl_forward", "kl.forward", "round", "KL(D||D') with the noise of that round"},
    {"design", "kl_reverse", "kl.reverse", "round", "KL(D'||D) with the noise of that round"},
    {"design", "kl_proven", "kl.proven", "round",
     "proven bound on the KL with the noise of that round"},

    {"fit", "epsilon_upper", "epsilon.upper", "delta", "what the model guarantees"},
    {"fit", "mu", "mu", "", "the same as mu of Gaussian differential privacy"},
    {"fit", "r2", "r_squared", "",
     "accuracy on rows that were not fitted: 1 - squared errors over the variance"},
    {"fit", "accuracy", "accuracy", "", "share of right classes among rows that were not fitted"},
    {"fit", "standard_error", "standard_error", "", "of the accuracy"},
    {"fit", "coefficient", "coefficient", "feature, class", "of the released model"},
    {"fit", "coefficient_error", "coefficient_error", "feature",
     "its standard error, from sampling and noise"},
    {"fit", "mu_lower", "mu.lower", "",
     "what an audit of the fit showed, at the stated confidence"},
    {"fit", "maximum_auditable_mu", "maximum_auditable_mu", "",
     "the most that the audit could have shown"},
    {"fit", "noticed_mu", "noticed_mu", "", "the mu from which on the audit would notice it"},
    {"fit", "row_mu", "row_mu", "row",
     "what the fit reveals about the median and the most exposed row"},

    {"quadratic", "kl_forward", "kl.forward", "time or steps", "KL(D||D') in nats"},
    {"quadratic", "kl_reverse", "kl.reverse", "time or steps", "KL(D'||D) in nats"},
    {"quadratic", "advantage", "advantage", "time or steps",
     "of the best attack that sees the parameters"},
    {"quadratic", "delta", "delta", "time or steps, epsilon", "of this one pair, at that epsilon"},
    {"quadratic", "epsilon", "epsilon", "time or steps, delta", "of this one pair, at that delta"},
    {"quadratic", "error", "error", "time or steps",
     "mean squared distance from the minimiser, on D"},
    {"quadratic", "excess_loss", "excess_loss", "time or steps",
     "mean loss above the smallest possible, on D"},

    {"report", "bytes", "", "file", "size of a file that was written"},

    {"rows", "advantage", "advantage", "row, id, quantile",
     "of the best attack on the row that knows all others"},
    {"rows", "kl", "kl", "row, id, quantile", "KL in the worse direction, in nats"},
    {"rows", "epsilon", "epsilon", "row, id, quantile", "of the row, at the delta of the question"},
    {"rows", "delta_at_", "", "row, id, quantile", "delta of the row at that epsilon"},
    {"rows", "worst_advantage", "worst_advantage", "noise",
     "advantage of the most exposed row at that noise"},
    {"rows", "worst_epsilon", "worst_epsilon", "noise",
     "epsilon of the most exposed row at that noise"},
    {"rows", "floor_advantage", "floor_advantage", "",
     "what of it remains however large the noise"},
    {"rows", "floor_epsilon", "floor_epsilon", "", "what of it remains however large the noise"},
    {"rows", "noise", "noise", "", "the least that reaches the goal"},
    {"rows", "r_squared", "r_squared", "noise", "expected R^2 on the rows of the table"},
    {"rows", "r_squared_without_noise", "r_squared_without_noise", "", "R^2 of the minimiser"},
    {"rows", "rmse", "rmse", "noise",
     "expected root of the mean squared error, in units of the target"},
    {"rows", "rmse_without_noise", "rmse_without_noise", "", "that of the minimiser"},
    {"rows", "accuracy", "accuracy", "noise",
     "expected share of right labels on the rows of the table"},
    {"rows", "accuracy_without_noise", "accuracy_without_noise", "", "that of the minimiser"},
    {"rows", "log_loss", "log_loss", "noise", "expected log-loss on the rows of the table"},
    {"rows", "log_loss_without_noise", "log_loss_without_noise", "", "that of the minimiser"},

    {"study copy", "trials", "", "", "finished trials that were copied"},
    {"study copy", "looks", "", "", "interim looks that were copied"},

    {"study export", "rows", "", "", "rows that were written"},

    {"study plan", "maximum_auditable_epsilon", "",
     "eps, thresholds, canaries, shadow_models, delta", "the most to show"},
    {"study plan", "runs_needed", "", "eps, delta, thresholds",
     "models per data set that could refute the claim"},
    {"study plan", "seconds", "", "where", "estimated time of training"},

    {"study run", "trials_done", "", "policy", "finished trials; without a policy, of all"},
    {"study run", "trials_diverged", "", "policy", "trials whose weights left the finite numbers"},
    {"study run", "trials_failed", "", "policy", "trials that ended with an error"},
    {"study run", "trials", "", "", "trials that the study plans"},

    {"study status", "trials_done", "", "policy", "finished trials; without a policy, of all"},
    {"study status", "trials_diverged", "", "policy",
     "trials whose weights left the finite numbers"},
    {"study status", "trials_failed", "", "policy", "trials that ended with an error"},
    {"study status", "trials", "", "", "trials that the study plans"},

    {"study verify", "trials_compared", "", "", "trials that were trained again"},
    {"study verify", "trials_that_differ", "", "", "those that did not come out bit for bit"},

    {"train", "training_loss", "", "policy, world", "mean loss on the records of training"},
    {"train", "training_accuracy", "", "policy, world",
     "share of right classes among the records of training"},
    {"train", "test_loss", "", "policy, world", "mean loss on the records of the test"},
    {"train", "test_accuracy", "", "policy, world",
     "share of right classes among the records of the test"},
    {"train", "path_kl", "", "policy, world",
     "KL of the paths of training on D and D' in nats, along this one"},
    {"train", "epsilon", "", "", "of private training: what the model guarantees"},
    {"train", "noise_multiplier", "", "", "of private training, in units of the clipping norm"},
    {"train", "seconds", "", "", "of private training with a seed: the time of all steps"},

    {"verify", "passed", "", "", "reference values within their tolerance"},
    {"verify", "failed", "", "", "reference values outside their tolerance"},
    {"verify", "skipped", "", "", "reference values of functions unknown to this build"},
});

}  // namespace

std::span<const Quantity> all_quantities() { return kQuantities; }

bool is_quantity(std::string_view command, std::string_view name) {
  return std::any_of(kQuantities.begin(), kQuantities.end(), [&](const Quantity& quantity) {
    if (quantity.command != command) return false;
    return quantity.name.ends_with("_at_") ? name.starts_with(quantity.name)
                                           : name == quantity.name;
  });
}

}  // namespace sfumato
