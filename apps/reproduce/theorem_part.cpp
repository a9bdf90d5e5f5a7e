#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <map>
#include <utility>

#include "reproduce/as_printed.hpp"
#include "reproduce/json_value.hpp"
#include "reproduce/part.hpp"
#include "reproduce/theorem.hpp"
#include "sfumato/divergence/contractive_bound.hpp"
#include "sfumato/divergence/entropy_rate.hpp"
#include "sfumato/report/csv_export.hpp"

namespace sfumato::apps {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::uint64_t kSeed = 2023;

/// A formula of the paper: what it says in our words.
struct Formula {
  const char* key;
  const char* title;
  const char* statement;
};
constexpr Formula kFormulas[] = {
    {"main_theorem", "main theorem", "the integral with the printed Phi bounds the KL"},
    {"noise_norm_bound", "bound with |Sigma^-1|", "the KL is at most |Sigma^-1| int E|grad gap|^2"},
    {"first_proposition", "first proposition", "the first proposition bounds the KL at any time"},
    {"second_proposition", "second proposition", "the second one bounds the KL in the long run"},
    {"log_sobolev_constant", "log-Sobolev constant", "C_t = 2/rho (1 - e^-rho t) + C_0 e^-rho t"},
    {"invariant_law", "invariant distribution",
     "the invariant distribution is exp(-f/(2 sigma^2))"},
    {"convergence_lemma", "convergence lemma", "E|x_t - x*|^2/2 <= e^-2kt + tr Sigma/(4k)"},
    {"quadratic_covariance", "quadratic: covariance", "V_t = (I - e^-2At) A^-1 Sigma / 2"},
    {"error_lemma", "quadratic: error", "the error of the quadratic is its trace part"},
    {"concentration_corollary", "concentration corollary",
     "concentration of log p/p' bounds delta"},
    {"advantage_bound", "advantage bound", "the advantage is at most sqrt(KL/2)"},
};

const char* title_of(const std::string& key) {
  for (const Formula& formula : kFormulas) {
    if (key == formula.key) return formula.title;
  }
  return "";
}

Table cases_table(const std::vector<PrintedCase>& cases) {
  Table table("theorem_cases", "The paper's formulas as printed, corrected, and the truth",
              {{"formula", "formula"},
               {"setting", "case"},
               {"erratum", "erratum"},
               {"truth", "truth"},
               {"printed", "printed"},
               {"corrected", "corrected"},
               {"holds", "printed holds"}},
              2);
  for (const PrintedCase& c : cases) {
    table.add_row({title_of(c.formula), c.setting,
                   c.erratum == 0 ? Cell(Empty{"confirmed as printed"}) : Cell(c.erratum), c.truth,
                   c.printed, c.corrected ? Cell(*c.corrected) : Cell(Empty{}),
                   c.holds ? "yes" : "no"});
  }
  return table;
}

Table ratio_table(const std::vector<PropositionRatio>& ratios) {
  Table table("theorem_ratio", "First over second printed proposition, far minimisers",
              {{"start_constant", "C_0"},
               {"variance", "sigma^2"},
               {"kappa", "kappa"},
               {"computed", "computed"},
               {"stated", "16 (4 + C_0 sigma^2 kappa)"}},
              3);
  for (const PropositionRatio& r : ratios) {
    table.add_row({r.start_constant, r.variance, r.kappa, r.computed, r.stated});
  }
  return table;
}

Table count_table(const RandomPairCount& count) {
  Table table(
      "theorem_random_pairs",
      fmt::format("The integral bound on {} random pairs with unequal noise, d <= 3", count.pairs),
      {{"bound", "bound"}, {"violated", "below the exact KL"}, {"worst", "largest KL/bound"}});
  table.add_row({"as printed", count.printed_violated,
                 count.printed_violated == 0 ? Cell(Empty{}) : Cell(count.worst_printed)});
  table.add_row({"corrected, primal", count.primal_violated, Empty{}});
  table.add_row({"corrected, dual", count.dual_violated, Empty{}});
  return table;
}

/// Times at which curves are drawn: many near 0, where they turn.
std::vector<double> curve_times(double last) {
  std::vector<double> times;
  for (int i = 1; i <= 40; ++i) times.push_back(last * (i / 40.0) * (i / 40.0));
  return times;
}

template <class At>
Series curve(std::string key, std::string title, Claim claim, std::string method,
             const std::vector<double>& times, At&& at) {
  Series series{std::move(key), std::move(title), times, {}, {}, claim, std::move(method)};
  for (const double time : times) series.y.push_back(at(time));
  return series;
}

Figure unequal_noise_figure() {
  const OuPair pair = halved_phi_pair();
  const std::vector<double> times = curve_times(20.0);
  Figure figure("theorem_kl_unequal", "KL(t) and its bounds: rates 0.5 and 1, Sigma 0.75 and 1",
                Mark::line, Axis{"training time"}, Axis{"KL(D||D')", "nats"});
  figure.add(curve("exact", "exact", Claim::exact, "KL of the normal distributions", times,
                   [&](double t) { return exact_kl(pair, t).value.value(); }));
  figure.add(curve("printed", "as printed", Claim::estimate, "the paper's Phi; not a bound", times,
                   [&](double t) { return as_printed::entropy_bound(pair, t).value; }));
  figure.add(curve("primal", "corrected, primal", Claim::upper_bound, "Spec §6.1", times,
                   [&](double t) { return entropy_rate_bounds(pair, t).primal.kl.value.value(); }));
  figure.add(curve("dual", "corrected, dual", Claim::upper_bound, "Spec §6.1", times,
                   [&](double t) { return entropy_rate_bounds(pair, t).dual.kl.value.value(); }));
  figure.set_caption("With unequal noise the printed formula is below the truth.");
  return figure;
}

Figure equal_noise_figure() {
  const OuPair pair = final_distribution_pair();
  const std::vector<double> times = curve_times(4.0);
  Figure figure("theorem_kl_equal", "KL(t) and its bounds: rates 2 and 0.1, equal noise, x_0 = 10",
                Mark::line, Axis{"training time"}, Axis{"KL(D||D')", "nats"});
  figure.add(curve("exact", "exact", Claim::exact, "KL of the normal distributions", times,
                   [&](double t) { return exact_kl(pair, t).value.value(); }));
  figure.add(curve(
      "printed_final", "as printed, under p_t", Claim::estimate, "erratum 12; not a bound", times,
      [&](double t) {
        return as_printed::noise_norm_bound(pair, t, as_printed::Under::final_distribution).value;
      }));
  figure.add(curve(
      "printed_running", "as printed, under p_s", Claim::estimate,
      "erratum 12, read under the running distribution", times, [&](double t) {
        return as_printed::noise_norm_bound(pair, t, as_printed::Under::running_distribution).value;
      }));
  figure.add(curve("path", "path bound", Claim::upper_bound, "Spec §6.2", times,
                   [&](double t) { return path_bound(pair, t).kl.value.value(); }));
  figure.add(
      curve("contractive", "contractive bound", Claim::upper_bound, "Spec §6.3", times,
            [&](double t) { return best_contractive_bound(pair, t).bound.kl.value.value(); }));
  return figure;
}

Figure multiplicative_figure() {
  const std::vector<double> times = {0.1, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 4.0, 5.0};
  const MultiplicativeNoise noise = multiplicative_noise(times);
  Figure figure("theorem_kl_multiplicative",
                "KL(t) and its bounds: Sigma(x) = 1 + 0.5/(1 + x^2) against 1", Mark::line,
                Axis{"training time"}, Axis{"KL(D||D')", "nats"});
  const auto add = [&](const char* key, const char* title, GridEstimate PairDirection::*member) {
    Series series{key, title, times, {}, {}, Claim::estimate, "Fokker-Planck equations on a grid"};
    for (const PairAtTime& row : noise.solution.rows) {
      series.y.push_back((row.forward.*member).value);
    }
    figure.add(std::move(series));
  };
  add("kl", "KL", &PairDirection::kl);
  add("primal", "corrected, primal", &PairDirection::primal_bound);
  add("dual", "corrected, dual", &PairDirection::dual_bound);
  figure.add(Series{"printed",
                    "as printed",
                    times,
                    noise.printed,
                    {},
                    Claim::estimate,
                    "largest printed integrand times the time; not a bound"});
  return figure;
}

std::vector<Finding> findings(const std::vector<PrintedCase>& cases,
                              const std::vector<PropositionRatio>& ratios,
                              const RandomPairCount& count) {
  std::vector<Finding> findings;
  for (const Formula& formula : kFormulas) {
    std::size_t holds = 0, total = 0;
    std::string counterexample;
    std::string confirmation;
    for (const PrintedCase& c : cases) {
      if (c.formula != formula.key) continue;
      ++total;
      if (c.holds) {
        ++holds;
        confirmation = fmt::format("{}: {:.6g}, truth {:.6g}", c.setting, c.printed, c.truth.value);
      } else if (counterexample.empty()) {
        counterexample =
            fmt::format("{}: printed {:.6g}, truth {:.6g}", c.setting, c.printed, c.truth.value);
      }
    }
    std::string evidence = counterexample.empty() ? confirmation : counterexample;
    if (std::string(formula.key) == "main_theorem") {
      evidence += fmt::format(
          ". Of {} random pairs {} are below the exact KL; with the factors 1/2 "
          "put back {} (primal) and {} (dual)",
          count.pairs, count.printed_violated, count.primal_violated, count.dual_violated);
    }
    findings.push_back({formula.key, formula.statement, verdict_of(holds, total),
                        fmt::format("{} of {} cases", holds, total), evidence + "."});
  }
  std::size_t agree = 0;
  for (const PropositionRatio& r : ratios) {
    if (std::fabs(r.computed / r.stated - 1.0) <= 1e-6) ++agree;
  }
  findings.push_back({"proposition_ratio", "the propositions' ratio is 16 (4 + C_0 s'^2 k')",
                      verdict_of(agree, ratios.size()),
                      fmt::format("{} of {} constants", agree, ratios.size()),
                      fmt::format("The ratio of the two printed bounds is {:.6g}, stated {:.6g}; "
                                  "neither is a bound.",
                                  ratios.front().computed, ratios.front().stated)});
  return findings;
}

Json ours(const std::vector<PrintedCase>& cases, const std::vector<PropositionRatio>& ratios,
          const RandomPairCount& count) {
  Json json;
  for (const PrintedCase& c : cases) {
    json[c.formula].push_back(
        {{"case", c.setting},
         {"erratum", c.erratum},
         {"truth", json_number(c.truth.value)},
         {"truth_claim", name(c.truth.claim)},
         {"printed", json_number(c.printed)},
         {"corrected", c.corrected ? json_number(c.corrected->value) : Json(nullptr)},
         {"printed_holds", c.holds}});
  }
  for (const PropositionRatio& r : ratios) {
    json["proposition_ratio"].push_back({{"start_constant", r.start_constant},
                                         {"variance", r.variance},
                                         {"kappa", r.kappa},
                                         {"computed", r.computed},
                                         {"stated", r.stated}});
  }
  json["random_pairs"] = {{"pairs", count.pairs},
                          {"printed_violated", count.printed_violated},
                          {"primal_violated", count.primal_violated},
                          {"dual_violated", count.dual_violated},
                          {"largest_kl_over_printed", json_number(count.worst_printed)}};
  return json;
}

}  // namespace

PartResult reproduce_theorem(RunScale scale) {
  const std::vector<PrintedCase> cases = printed_cases();
  const std::vector<PropositionRatio> ratios = proposition_ratios();
  const RandomPairCount count = count_violations(scale == RunScale::quick ? 300 : 3000, kSeed);
  PartResult result;
  result.blocks.emplace_back(cases_table(cases));
  result.blocks.emplace_back(count_table(count));
  result.blocks.emplace_back(ratio_table(ratios));
  result.blocks.emplace_back(unequal_noise_figure());
  result.blocks.emplace_back(equal_noise_figure());
  result.blocks.emplace_back(multiplicative_figure());
  result.files.push_back({"theorem_cases.csv", to_csv(cases_table(cases))});
  result.findings = findings(cases, ratios, count);
  result.paper = {{"formulas", "as printed; docs/errata.md says where"},
                  {"ratio_of_propositions", "16 (4 + C_0 sigma'^2 kappa')"}};
  result.ours = ours(cases, ratios, count);
  result.interval =
      "exact, but for the cases with Sigma(x): Fokker-Planck estimates, whose error is given with "
      "them in theorem.json";
  result.size = {{"random_pairs", count.pairs}};
  return result;
}

}  // namespace sfumato::apps
