#include "sfumato/report/glossary.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <set>
#include <string>

namespace sfumato {
namespace {

struct Entry {
  Term term;
  std::array<std::string_view, 7> keys;  ///< of what the term explains; empty ones are unused
};

/// In alphabetical order.
constexpr std::array kEntries = {
    Entry{{"Adjacency",
           "How the two data sets differ: one record removed, or one record replaced by another."},
          {"rows", "account", "fit"}},
    Entry{{"Advantage",
           "How much better than a coin toss the best attacker can tell D from D': the largest "
           "difference between true-positive and false-positive rate. 0 is no risk, 1 is "
           "certainty. It equals the total variation distance between the two distributions."},
          {"advantage", "worst_advantage", "floor_advantage"}},
    Entry{{"Anisotropic noise",
           "Noise whose strength depends on the direction: more where a record is visible, less "
           "elsewhere. Isotropic noise is the same in all directions."},
          {"design", "noise_policy", "policy"}},
    Entry{{"AUC",
           "Area under the ROC curve: the chance that a random member scores above a random "
           "non-member. "
           "0.5 is a coin toss."},
          {"membership"}},
    Entry{{"Canary",
           "A record inserted into the training data on purpose, to see whether it can be "
           "detected."},
          {"canaries", "one_run"}},
    Entry{{"Certified gap",
           "How far a design can be from optimal: the proven lower bound is within this of its "
           "cost."},
          {"design"}},
    Entry{{"Claim", "A claimed (epsilon, delta) that an audit checks."}, {"verdict"}},
    Entry{{"Clopper-Pearson interval",
           "A confidence interval for a probability, computed from counts, that is valid for "
           "every true value."},
          {"tests"}},
    Entry{{"Condition number", "Ratio of the largest to the smallest curvature of a loss."},
          {"kappa", "problem"}},
    Entry{{"Confidence",
           "How often a bound computed in this way is true, over repetitions of the experiment."},
          {"audit", "mu_lower"}},
    Entry{{"Contractive bound",
           "A bound on the KL that stays finite for all times because the drift pulls two paths "
           "together."},
          {"contractive"}},
    Entry{{"Credible interval",
           "A Bayesian interval: it contains the value with the stated probability under the "
           "prior. Not a confidence bound."},
          {"bounds"}},
    Entry{{"D and D'",
           "The training data with the record in question, and the same data without it (or with "
           "another record instead)."},
          {"rows", "quadratic", "bound", "audit", "train", "reproduce", "world"}},
    Entry{{"delta (δ)",
           "The part of the risk that epsilon does not cover: delta(epsilon) is the largest p(A) "
           "- e^epsilon q(A) over all events A, where p and q are the distributions on D and D'."},
          {"delta", "delta_at_1", "delta_forward", "delta_lower", "epsilon", "epsilon_upper",
           "epsilon_lower"}},
    Entry{{"Differential privacy",
           "A guarantee (epsilon, delta) that holds for every pair of data sets that differ in "
           "one record. The risk or the audit of one pair is not such a guarantee."},
          {"account", "fit", "rows", "quadratic", "bound", "audit", "guarantee"}},
    Entry{{"Diffusion, SDE",
           "Training in continuous time: a drift that follows the gradient, plus noise."},
          {"quadratic", "bound"}},
    Entry{
        {"epsilon (ε)",
         "How much the result can change the odds that the record was used: at most by the factor "
         "e^epsilon, up to delta. 0 is perfect privacy; at 1 the odds change at most 2.7-fold, at "
         "10 up to 22,000-fold."},
        {"epsilon", "epsilon_upper", "epsilon_lower", "worst_epsilon", "delta", "delta_forward"}},
    Entry{{"Excess loss", "Mean loss of the noisy weights minus the smallest possible loss."},
          {"excess_loss", "excess_loss_d"}},
    Entry{{"Fokker-Planck",
           "The equation for the density of an SDE, solved here on a grid: close to the truth, "
           "but not a bound."},
          {"fokker_planck"}},
    Entry{{"Gain over isotropic",
           "Privacy cost with isotropic noise divided by that of the design, at the same error."},
          {"gain", "design"}},
    Entry{{"Interim look",
           "One audit of a ledger that still grows. The significance level is split over all "
           "interim looks."},
          {"sandwich"}},
    Entry{{"KL, relative entropy",
           "A measure of how different two distributions are, in nats. KL(D||D') and KL(D'||D) "
           "differ. It bounds the advantage: advantage^2 <= KL / 2."},
          {"kl", "kl_forward", "kl_reverse", "path_kl"}},
    Entry{{"Ledger",
           "The SQLite file in which a study keeps the outputs and provenance of every trained "
           "model."},
          {"ledger"}},
    Entry{{"Leverage",
           "How much a row determines its own prediction: its diagonal entry of the hat matrix."},
          {"leverage"}},
    Entry{{"Margin",
           "Score of a model on a record: the logit of its class minus the largest other logit."},
          {"ledger"}},
    Entry{{"Maximum auditable epsilon",
           "The largest epsilon that an audit can certify with this many models, even with a "
           "perfect attack."},
          {"maximum", "epsilon_maximum", "maximum_auditable_mu"}},
    Entry{{"Membership inference",
           "Deciding from a trained model whether a record was in its training data."},
          {"audit"}},
    Entry{{"Model", "One trained model: one data set (D or D'), policy and replica."}, {"models"}},
    Entry{{"mu (μ), Gaussian DP",
           "The risk of distinguishing two Gaussians of variance 1 whose means differ by mu: a "
           "whole trade-off curve in one number."},
          {"mu", "mu_lower"}},
    Entry{{"Noise floor", "The risk that remains however large the noise becomes."},
          {"noise_floor", "floor_advantage"}},
    Entry{{"Noise policy", "How the noise of a training step is shaped and scaled."}, {"policy"}},
    Entry{{"Pair, replica, trial",
           "A pair is D and D' with one differing record; a replica repeats its training with a "
           "new seed; a trial is the models of D and D' of one replica under one noise policy."},
          {"replica", "sandwich"}},
    Entry{{"Path KL",
           "The relative entropy of the training steps, summed along one run. Its mean over runs "
           "estimates an upper bound on what the final weights reveal."},
          {"path_kl"}},
    Entry{{"Privacy cost",
           "s^T Sigma^{-1} s for a gradient difference s: twice the KL per unit of training time. "
           "Smaller is more private."},
          {"privacy_cost", "design", "sensitivities"}},
    Entry{{"Quantile", "The value that this share of the rows does not exceed."}, {"quantile"}},
    Entry{{"R^2 and RMSE",
           "How well weights predict a quantity: 1 minus the sum of squared errors over that of "
           "always saying the mean (1 is perfect, below 0 is worse than the mean), and the root of "
           "the mean squared error in the units of the target."},
          {"r_squared", "rmse", "r2"}},
    Entry{{"Renyi divergence",
           "A family of divergences, one per order; order 1 is the relative entropy. They add up "
           "over independent releases."},
          {"renyi", "epsilon_renyi", "renyi_forward"}},
    Entry{{"ROC curve",
           "True-positive rate against false-positive rate of an attack, over all its thresholds. "
           "The "
           "diagonal is a coin toss."},
          {"roc"}},
    Entry{{"Score",
           "The number by which an attack ranks models: larger if the record looks like a "
           "member."},
          {"tests", "membership", "shadows"}},
    Entry{{"Threshold", "An attack says \"member\" where the score reaches it."},
          {"threshold", "thresholds"}},
    Entry{{"TPR at FPR",
           "Share of members that an attack finds when it may wrongly accuse that share of "
           "non-members. Small FPRs show the risk of the few records that stand out."},
          {"tpr", "tpr_at_0.01", "tpr_at_0.001", "membership"}},
    Entry{{"Trade-off curve",
           "The best true-positive rate that any attack can have at each false-positive rate."},
          {"tradeoff", "trade_off"}}};

/// All that a document calls by keys: its command, tables, columns, figures, curves, numbers and what they are of.
std::set<std::string, std::less<>> keys_of(const Document& document) {
  std::set<std::string, std::less<>> keys = {document.command()};
  for (const Block& block : document.blocks()) {
    if (const auto* table = std::get_if<Table>(&block)) {
      keys.insert(table->key());
      for (const Column& column : table->columns()) keys.insert(column.key);
    } else if (const auto* figure = std::get_if<Figure>(&block)) {
      keys.insert(figure->key());
      for (const Series& series : figure->series()) keys.insert(series.key);
    }
  }
  for (const Result& result : document.results()) {
    keys.insert(result.quantity);
    for (const auto& [key, subject] : result.of) {
      keys.insert(key);
      if (const auto* name = std::get_if<std::string>(&subject.content())) keys.insert(*name);
    }
  }
  for (const auto& [key, value] : document.provenance()) keys.insert(key);
  if (!document.verdicts().empty()) keys.insert("verdict");
  return keys;
}

}  // namespace

std::vector<Term> glossary_for(const std::vector<Document>& documents) {
  std::set<std::string, std::less<>> keys;
  for (const Document& document : documents) keys.merge(keys_of(document));
  std::vector<Term> terms;
  for (const Entry& entry : kEntries) {
    if (std::any_of(entry.keys.begin(), entry.keys.end(),
                    [&](std::string_view key) { return keys.contains(key); })) {
      terms.push_back(entry.term);
    }
  }
  return terms;
}

}  // namespace sfumato
