#include "sfumato/report/glossary.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <string>

namespace sfumato {
namespace {

struct Entry {
  Term term;
  std::array<std::string_view, 4> spellings;  ///< in lower case; empty ones are unused
};

constexpr std::array kEntries = {
    Entry{{"Adjacency",
           "How the two data sets differ: one record removed, or one record replaced by another."},
          {"adjacency", "adjacent", "zero-out"}},
    Entry{{"Advantage",
           "How much better than a coin toss the best attacker can tell D from D': the largest "
           "difference between true-positive and false-positive rate. 0 is no risk, 1 is "
           "certainty. It equals the total variation distance between the two distributions."},
          {"advantage", "total variation"}},
    Entry{{"Anisotropic noise",
           "Noise whose strength depends on the direction: more where a record is visible, less "
           "elsewhere. Isotropic noise is the same in all directions."},
          {"anisotropic", "isotropic", "isotropic_per_layer"}},
    Entry{{"AUC",
           "Area under the ROC curve: the chance that a random member scores above a random "
           "non-member. "
           "0.5 is a coin toss."},
          {"auc"}},
    Entry{{"Canary",
           "A record inserted into the training data on purpose, to see whether it can be "
           "detected."},
          {"canary", "canaries"}},
    Entry{{"Clopper-Pearson interval",
           "A confidence interval for a probability, computed from counts, that is valid for "
           "every true value."},
          {"clopper-pearson"}},
    Entry{{"Condition number", "Ratio of the largest to the smallest curvature of a loss."},
          {"condition number", "condition numbers"}},
    Entry{{"Confidence",
           "How often a bound computed in this way is true, over repetitions of the experiment."},
          {"confidence"}},
    Entry{{"D and D'",
           "The training data with the record in question, and the same data without it (or with "
           "another record instead)."},
          {"d'", "d||d'", "d′", "d‖d′"}},
    Entry{{"delta (δ)",
           "The part of the risk that epsilon does not cover: delta(epsilon) is the largest p(A) "
           "- e^epsilon q(A) over all events A, where p and q are the distributions on D and D'."},
          {"delta", "deltas", "δ"}},
    Entry{{"Diffusion, SDE",
           "Training in continuous time: a drift that follows the gradient, plus noise."},
          {"sde", "diffusion", "gradient flow"}},
    Entry{{"Differential privacy",
           "A guarantee (epsilon, delta) that holds for every pair of data sets that differ in "
           "one record. The risk or the audit of one pair is not such a guarantee."},
          {"differential-privacy", "differential privacy", "dp", "gaussian-dp"}},
    Entry{
        {"epsilon (ε)",
         "How much the result can change the odds that the record was used: at most by the factor "
         "e^epsilon, up to delta. 0 is perfect privacy; at 1 the odds change at most 2.7-fold, at "
         "10 up to 22,000-fold."},
        {"epsilon", "eps", "epsilons", "ε"}},
    Entry{{"Fokker-Planck",
           "The equation for the density of an SDE, solved here on a grid: close to the truth, "
           "but not a bound."},
          {"fokker-planck", "fokker_planck"}},
    Entry{{"KL, relative entropy",
           "A measure of how different two distributions are, in nats. KL(D||D') and KL(D'||D) "
           "differ. It bounds the advantage: advantage^2 <= KL / 2."},
          {"kl", "relative entropy"}},
    Entry{{"Ledger",
           "The SQLite file in which a study keeps the outputs and provenance of every trained "
           "model."},
          {"ledger"}},
    Entry{{"Maximum auditable epsilon",
           "The largest epsilon that an audit can certify with this many models, even with a "
           "perfect attack."},
          {"maximum auditable epsilon", "maximum"}},
    Entry{{"Membership inference",
           "Deciding from a trained model whether a record was in its training data."},
          {"membership"}},
    Entry{{"mu (μ), Gaussian DP",
           "The risk of distinguishing two Gaussians of variance 1 whose means differ by mu: a "
           "whole trade-off curve in one number."},
          {"mu", "gdp", "mu-gdp", "μ"}},
    Entry{{"Noise policy", "How the noise of a training step is shaped and scaled."},
          {"policy", "policies"}},
    Entry{{"Path KL",
           "The relative entropy of the training steps, summed along one run. Its mean over runs "
           "estimates an upper bound on what the final weights reveal."},
          {"path kl", "path_kl", "odometer"}},
    Entry{{"Renyi divergence",
           "A family of divergences, one per order; order 1 is the relative entropy. They add up "
           "over independent releases."},
          {"renyi"}},
    Entry{{"ROC curve",
           "True-positive rate against false-positive rate of an attack, over all its thresholds. "
           "The "
           "diagonal is a coin toss."},
          {"roc"}},
    Entry{{"Trade-off curve",
           "The best true-positive rate that any attack can have at each false-positive rate."},
          {"trade-off", "tradeoff"}},
    Entry{{"TPR at FPR",
           "Share of members that an attack finds when it may wrongly accuse that share of "
           "non-members. Small FPRs show the risk of the few records that stand out."},
          {"tpr", "true-positive", "fpr", "false-positive"}},
    Entry{{"Certified gap",
           "How far a design can be from optimal: the proven lower bound is within this of its "
           "cost."},
          {"certified gap", "gap"}},
    Entry{{"Claim", "A claimed (epsilon, delta) that an audit checks."}, {"claim", "claims"}},
    Entry{{"Contractive bound",
           "A bound on the KL that stays finite for all times because the drift pulls two paths "
           "together."},
          {"contractive", "contraction"}},
    Entry{{"Credible interval",
           "A Bayesian interval: it contains the value with the stated probability under the "
           "prior. Not a confidence bound."},
          {"credible"}},
    Entry{{"Excess loss", "Mean loss of the noisy weights minus the smallest possible loss."},
          {"excess loss"}},
    Entry{{"Gain over isotropic",
           "Privacy cost with isotropic noise divided by that of the design, at the same error."},
          {"gain", "gain over isotropic"}},
    Entry{{"Leverage",
           "How much a row determines its own prediction: its diagonal entry of the hat matrix."},
          {"leverage"}},
    Entry{{"Look",
           "One audit of a ledger that still grows. The significance level is split over all "
           "looks."},
          {"look", "looks"}},
    Entry{{"Margin",
           "Score of a model on a record: the logit of its class minus the largest other logit."},
          {"margin"}},
    Entry{{"Model", "One trained model: one world, policy and replica."}, {"models"}},
    Entry{{"Noise floor", "The risk that remains however large the noise becomes."},
          {"noise floor", "unlimited"}},
    Entry{{"Pair, replica, trial",
           "A pair is D and D' with one differing record; a replica repeats its training with a "
           "new seed; a trial is the models of D and D' of one replica under one noise policy."},
          {"pair", "pairs", "replica", "trials"}},
    Entry{{"Privacy cost",
           "s^T Sigma^{-1} s for a gradient difference s: twice the KL per unit of training time. "
           "Smaller is more private."},
          {"privacy cost", "privacy_cost", "cost"}},
    Entry{{"Quantile", "The value that this share of the rows does not exceed."},
          {"quantile", "median"}},
    Entry{{"R^2 and RMSE",
           "How well weights predict a quantity: 1 minus the sum of squared errors over that of "
           "always saying the mean (1 is perfect, below 0 is worse than the mean), and the root of "
           "the mean squared error in the units of the target."},
          {"r^2", "rmse", "measure", "without noise"}},
    Entry{{"Score",
           "The number by which an attack ranks models: larger if the record looks like a "
           "member."},
          {"score", "scores"}},
    Entry{{"Threshold", "An attack says \"member\" where the score reaches it."},
          {"threshold", "thresholds"}},
    Entry{{"World", "D or D', as training sees it."}, {"world", "worlds"}},
};

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

bool occurs(std::string_view text, std::string_view word) {
  for (std::size_t at = text.find(word); at != std::string_view::npos;
       at = text.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    const bool starts = at == 0 || !is_word(text[at - 1]);
    const bool ends = end == text.size() || !is_word(text[end]) || !is_word(word.back());
    if (starts && ends) return true;
  }
  return false;
}

}  // namespace

std::vector<Term> glossary_for(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  std::vector<Term> terms;
  for (const Entry& entry : kEntries) {
    if (std::any_of(entry.spellings.begin(), entry.spellings.end(), [&](std::string_view spelling) {
          return !spelling.empty() && occurs(lower, spelling);
        })) {
      terms.push_back(entry.term);
    }
  }
  const auto folded = [](const Term& term) {
    std::string key(term.term);
    std::transform(key.begin(), key.end(), key.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return key;
  };
  std::sort(terms.begin(), terms.end(),
            [&](const Term& a, const Term& b) { return folded(a) < folded(b); });
  return terms;
}

}  // namespace sfumato
