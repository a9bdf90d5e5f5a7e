#include "sfumato/account/tuning/runs.hpp"

#include <fmt/format.h>

#include <cmath>

#include "sfumato/core/error.hpp"
#include "sfumato/core/overloaded.hpp"

namespace sfumato {
namespace {

[[noreturn]] void refuse(const char* key, const std::string& problem, const std::string& remedy) {
  throw InvalidArgument(problem, remedy, Where::key(key));
}

/// log(1 / gamma)
double reach(const NegativeBinomialRuns& runs) { return -std::log(runs.gamma); }

/// eta / (gamma^-eta - 1), whose limit at eta = 0 is that of logarithmic runs.
double scale(const NegativeBinomialRuns& runs) {
  return runs.eta == 0.0 ? 1.0 / reach(runs) : runs.eta / std::expm1(runs.eta * reach(runs));
}

}  // namespace

void require_valid(const RunsDistribution& runs) {
  std::visit(Overloaded{[](const NegativeBinomialRuns& of) {
                          if (!(of.eta > -1.0 && of.eta <= 1e3)) {
                            refuse(
                                "eta", fmt::format("eta = {} is not above -1", of.eta),
                                "Pass 1 (geometric), 0 (logarithmic) or another number above -1");
                          }
                          if (!(of.gamma > 0.0 && of.gamma < 1.0)) {
                            refuse("gamma", fmt::format("gamma = {} is not in (0, 1)", of.gamma),
                                   "Pass runs_mean instead: the number of runs that you expect");
                          }
                        },
                        [](const PoissonRuns& of) {
                          if (of.mean >= 1.0 && of.mean <= 1e6) return;
                          refuse("runs_mean",
                                 fmt::format("runs_mean = {} is not a number of runs from 1 to a "
                                             "million",
                                             of.mean),
                                 "Pass the number of runs that you expect");
                        },
                        [](const FixedRuns& of) {
                          if (of.runs >= 1 && of.runs <= 1'000'000) return;
                          refuse("runs_mean",
                                 fmt::format("{} runs are not between 1 and a million", of.runs),
                                 "Pass the number of runs");
                        }},
             runs);
}

double mean_of(const RunsDistribution& runs) {
  return std::visit(Overloaded{[](const NegativeBinomialRuns& of) {
                                 // eta (1 - gamma) / (gamma (1 - gamma^eta))
                                 const double odds = (1.0 - of.gamma) / of.gamma;
                                 return of.eta == 0.0
                                            ? odds / reach(of)
                                            : of.eta * odds / -std::expm1(-of.eta * reach(of));
                               },
                               [](const PoissonRuns& of) { return of.mean; },
                               [](const FixedRuns& of) { return static_cast<double>(of.runs); }},
                    runs);
}

std::string describe(const RunsDistribution& runs) {
  return std::visit(
      Overloaded{[&](const NegativeBinomialRuns& of) {
                   const std::string mean = fmt::format("with mean {:.6g}", mean_of(runs));
                   if (of.eta == 1.0) return "geometric " + mean;
                   if (of.eta == 0.0) return "logarithmic " + mean;
                   return fmt::format("truncated negative binomial (eta {}, gamma {:.6g}) {}",
                                      of.eta, of.gamma, mean);
                 },
                 [](const PoissonRuns& of) { return fmt::format("Poisson with mean {}", of.mean); },
                 [](const FixedRuns& of) { return fmt::format("fixed, {}", of.runs); }},
      runs);
}

NegativeBinomialRuns negative_binomial_with_mean(double eta, double mean) {
  if (!(mean > 1.0 && mean <= 1e6)) {
    refuse("runs_mean",
           fmt::format("runs_mean = {} is not above 1, which a random number of runs has", mean),
           "Pass the number of runs that you expect, up to a million");
  }
  if (eta == 1.0) return {eta, 1.0 / mean};
  NegativeBinomialRuns runs{eta, 0.5};
  require_valid(RunsDistribution(runs));
  // The mean falls with gamma; rounded to more runs, which cost more.
  double few = 1.0, many = 1e-300;
  for (int i = 0; i < 2000 && few > many * (1.0 + 4e-16); ++i) {
    runs.gamma = few > 2.0 * many ? std::sqrt(few * many) : 0.5 * (few + many);
    if (runs.gamma == few || runs.gamma == many) break;
    (mean_of(RunsDistribution(runs)) >= mean ? many : few) = runs.gamma;
  }
  runs.gamma = many;
  require_valid(RunsDistribution(runs));
  return runs;
}

double selection_weight(const RunsDistribution& runs, double x) {
  return std::visit(
      Overloaded{[&](const NegativeBinomialRuns& of) {
                   const double rest = 1.0 - of.gamma;
                   return scale(of) * rest * std::pow(of.gamma + rest * x, -of.eta - 1.0);
                 },
                 [&](const PoissonRuns& of) { return of.mean * std::exp(-of.mean * x); },
                 [&](const FixedRuns& of) {
                   const auto k = static_cast<double>(of.runs);
                   return k * std::pow(1.0 - x, k - 1.0);
                 }},
      runs);
}

double probability_of_some(const RunsDistribution& runs, double d) {
  return std::visit(Overloaded{[&](const NegativeBinomialRuns& of) {
                                 const double way = std::log1p((1.0 - of.gamma) / of.gamma * d);
                                 return of.eta == 0.0 ? way / reach(of)
                                                      : std::expm1(-of.eta * way) /
                                                            std::expm1(-of.eta * reach(of));
                               },
                               [&](const PoissonRuns& of) { return -std::expm1(-of.mean * d); },
                               [&](const FixedRuns& of) {
                                 return -std::expm1(static_cast<double>(of.runs) * std::log1p(-d));
                               }},
                    runs);
}

double probability_of_each(const RunsDistribution& runs, double p) {
  return std::visit(
      Overloaded{[&](const NegativeBinomialRuns& of) {
                   const double way =
                       of.eta == 0.0 ? p * reach(of)
                                     : -std::log1p(p * std::expm1(-of.eta * reach(of))) / of.eta;
                   return std::expm1(way) * of.gamma / (1.0 - of.gamma);
                 },
                 [&](const PoissonRuns& of) { return -std::log1p(-p) / of.mean; },
                 [&](const FixedRuns& of) {
                   return -std::expm1(std::log1p(-p) / static_cast<double>(of.runs));
                 }},
      runs);
}

std::vector<std::string> conditions_of_tuning(const RunsDistribution& runs) {
  if (std::holds_alternative<FixedRuns>(runs)) {
    return {fmt::format(
        "tuning: at most {} runs, each with its score, are all of what is computed from the "
        "records",
        std::get<FixedRuns>(runs).runs)};
  }
  return {
      fmt::format("tuning: the number of runs is drawn from a public distribution ({}) before the "
                  "first, independently of the data, and is not released",
                  describe(runs)),
      "tuning: the settings of every run are drawn anew from one public distribution (no grid is "
      "gone through), and none is stopped for its result",
      "tuning: only the best run is released, neither other models nor scores; a score from "
      "private records is a release of its run"};
}

}  // namespace sfumato
