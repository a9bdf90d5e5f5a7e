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
           "How much better than a coin toss the best attacker tells D from D': the true-positive "
           "rate "
           "minus the false-positive rate, at its largest. 0 is no risk, 1 is certainty. It equals "
           "the "
           "total variation between the two laws."},
          {"advantage", "total variation"}},
    Entry{{"Anisotropic noise",
           "Noise whose strength depends on the direction: more where a record shows, less "
           "elsewhere."},
          {"anisotropic", "isotropic", "isotropic_per_layer"}},
    Entry{{"AUC",
           "Area under the ROC curve: the chance that a random member scores above a random "
           "non-member. "
           "0.5 is a coin toss."},
          {"auc"}},
    Entry{{"Canary",
           "A record put into the training data on purpose, to see whether it can be found again."},
          {"canary", "canaries"}},
    Entry{{"Clopper-Pearson interval",
           "An interval for a probability from counts of successes that holds for every true "
           "value, not "
           "only on average."},
          {"clopper-pearson"}},
    Entry{{"Condition number",
           "Largest by smallest curvature of a loss: how unequal its directions are."},
          {"condition number", "condition numbers"}},
    Entry{{"Confidence",
           "How often a bound computed in this way is right, over repetitions of the experiment."},
          {"confidence"}},
    Entry{{"D and D'",
           "The training data with the record in question, and the same data without it (or with "
           "another "
           "in its place)."},
          {"d'", "d||d'"}},
    Entry{{"delta",
           "The part of the risk that epsilon does not cover: delta(epsilon) is the largest p(A) - "
           "e^epsilon q(A) over all events A, with p and q the laws on D and D'."},
          {"delta", "deltas"}},
    Entry{{"Diffusion, SDE",
           "Training in continuous time: a drift that follows the gradient and a noise on top."},
          {"sde", "diffusion", "gradient flow"}},
    Entry{{"Differential privacy",
           "A guarantee (epsilon, delta) that holds for every pair of data sets that differ in one "
           "record. A risk or an audit of one pair is no such guarantee."},
          {"differential-privacy", "differential privacy", "dp", "gaussian-dp"}},
    Entry{
        {"epsilon",
         "How much seeing the result can change the odds that the record was used: at most by the "
         "factor e^epsilon, up to delta. 0 is perfect privacy; 1 is a factor of 2.7; 10 is hardly "
         "any."},
        {"epsilon", "eps", "epsilons"}},
    Entry{{"Fokker-Planck",
           "The equation of the law of an SDE, solved here on a grid: close to the truth, and no "
           "bound."},
          {"fokker-planck", "fokker_planck"}},
    Entry{{"KL, relative entropy",
           "A distance between two laws, in nats: how fast evidence for one of them grows. "
           "KL(D||D') and "
           "KL(D'||D) differ. It bounds the advantage: advantage^2 <= KL / 2."},
          {"kl", "relative entropy"}},
    Entry{{"Ledger",
           "The file in which a study keeps every trained model's outputs and their origin."},
          {"ledger"}},
    Entry{{"Maximum auditable epsilon",
           "The largest epsilon that an audit can show with this many models: what an attack "
           "without errors would show."},
          {"maximum auditable epsilon", "maximum"}},
    Entry{{"Membership inference",
           "Telling from a trained model whether a record was in its training data."},
          {"membership"}},
    Entry{{"mu, Gaussian DP",
           "The risk of telling two normal laws of variance 1 apart whose means differ by mu; a "
           "whole "
           "trade-off curve in one number."},
          {"mu", "gdp", "mu-gdp"}},
    Entry{{"Noise policy", "The rule by which a training step draws its noise."},
          {"policy", "policies"}},
    Entry{{"Path KL",
           "The relative entropy of the training steps, summed along one run. Its mean over runs "
           "estimates an upper bound on what the final weights reveal."},
          {"path kl", "path_kl", "odometer"}},
    Entry{{"Renyi divergence",
           "A family of distances between laws, by order; order 1 is the relative entropy. Adds up "
           "over "
           "independent releases."},
          {"renyi"}},
    Entry{{"ROC curve",
           "True-positive rate against false-positive rate of an attack, over all its thresholds. "
           "The "
           "diagonal is a coin toss."},
          {"roc"}},
    Entry{{"Trade-off curve",
           "For each false-positive rate the best true-positive rate that any attack can have."},
          {"trade-off", "tradeoff"}},
    Entry{{"TPR at FPR",
           "Share of members that an attack finds when it may accuse that share of non-members "
           "wrongly. "
           "Small FPRs show what happens to the few records that stand out."},
          {"tpr", "true-positive", "fpr", "false-positive"}},
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
