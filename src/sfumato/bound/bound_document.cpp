#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sfumato/bound/bound_answer.hpp"
#include "sfumato/bound/bound_tables.hpp"
#include "sfumato/core/infinity.hpp"
#include "sfumato/divergence/matched_pair.hpp"
#include "sfumato/problem/closing.hpp"
#include "sfumato/problem/simulation_size.hpp"
#include "sfumato/report/number.hpp"
#include "sfumato/report/sentences.hpp"

namespace sfumato {
namespace {

const Maths kDPrime{"D'"};

/// "t = 1, 10"
Text times_text(const std::vector<double>& times) {
  Text text = say("{} = ", Maths{"t"});
  for (std::size_t i = 0; i < times.size(); ++i) text += say(i == 0 ? "{}" : ", {}", times[i]);
  return text;
}

bool has_numbers(const BoundsAtTime& at) {
  return std::any_of(at.methods.begin(), at.methods.end(), has_number);
}

/// What the question takes as proven, and what the grid says to it.
void state_assumed(const BoundAnswer& answer, Document& document) {
  if (const std::string& frozen = answer.question.problem.frozen; !frozen.empty()) {
    document.state(StatementKind::assumption, say("{}.", Text(frozen)));
  }
  const char* outcome = answer.verdict == Verdict::none          ? "not checked"
                        : answer.verdict == Verdict::not_refuted ? "not refuted by the grid"
                                                                 : "refuted by the grid";
  for (const std::string& assumed : answer.question.problem.assumed) {
    document.state(StatementKind::assumption, say("{} ({}).", Text(assumed), outcome));
  }
}

void state_problem(const BoundAnswer& answer, Document& document) {
  const SdeProblem& problem = answer.question.problem;
  document.state(
      StatementKind::info,
      say("{} on data D, with {} and {} on data {}. {} is the diffusion covariance (variance per "
          "unit of time), not its root.",
          Maths{"dX = b(X) dt + Sigma(X)^{1/2} dW"}, Maths{"b'"}, Maths{"Sigma'"}, kDPrime,
          Maths{"Sigma"}));
  if (!problem.kind.d.empty()) {
    document.state(StatementKind::info, problem.kind.d == problem.kind.d_prime
                                            ? say("D and {}: {}.", kDPrime, Text(problem.kind.d))
                                            : say("D: {}. {}: {}.", Text(problem.kind.d), kDPrime,
                                                  Text(problem.kind.d_prime)));
  }
  if (!problem.way_of_change.empty()) {
    document.state(StatementKind::info, say("{}.", Text().add(Unmarked{problem.way_of_change})));
  }
  for (const std::string& derived : derived_constants(problem.pair)) {
    document.state(StatementKind::info, say("Derived: {}.", Text().add(Unmarked{derived})));
  }
  if (!problem.defaults.empty()) document.state(StatementKind::info, problem.defaults);
  if (!same_start(problem.pair)) {
    document.state(StatementKind::info,
                   say("The two starts differ: their KL is included in every number."));
  }
  state_assumed(answer, document);
  if (problem.plan.monte_carlo && problem.times.front() < kInf) {
    const SimulationSize size = simulation_size(problem);
    document.state(StatementKind::info,
                   say("Simulated values: {} paths from seed {}, time steps of {} and half of it, "
                       "extrapolated to 0; s.e. is one standard error for each direction.",
                       std::to_string(size.paths), std::to_string(problem.plan.seed), size.step));
  }
  document.state(StatementKind::assumption,
                 say("the attacker knows both equations and sees all parameters once, at time t; "
                     "time is continuous."));
}

/// Why no method says anything at a time, each reason once.
std::string reasons_at(const BoundsAtTime& at) {
  std::vector<std::pair<std::string, std::vector<std::string_view>>> methods_by_reason;
  for (const PairBound& method : at.methods) {
    const std::string& reason = method.forward.reason;
    if (reason.empty()) continue;
    const auto known = std::find_if(methods_by_reason.begin(), methods_by_reason.end(),
                                    [&](const auto& entry) { return entry.first == reason; });
    auto& entry = known != methods_by_reason.end()
                      ? *known
                      : methods_by_reason.emplace_back(reason, std::vector<std::string_view>{});
    entry.second.push_back(title(method.method));
  }
  std::vector<std::string> reasons;
  for (const auto& [reason, methods] : methods_by_reason) {
    reasons.push_back(fmt::format("{}: {}", fmt::join(methods, ", "), reason));
  }
  return reasons.empty() ? "" : fmt::format(" ({})", fmt::join(reasons, "; "));
}

/// Times that nothing reaches, in one sentence for those with the same reasons.
void state_unreached(const BoundAnswer& answer, Document& document) {
  std::vector<std::pair<std::string, std::vector<double>>> times_by_reasons;
  for (const BoundsAtTime& at : answer.at) {
    if (has_numbers(at)) continue;
    std::string reasons = reasons_at(at);
    if (times_by_reasons.empty() || times_by_reasons.back().first != reasons) {
      times_by_reasons.emplace_back(std::move(reasons), std::vector<double>{});
    }
    times_by_reasons.back().second.push_back(at.time);
  }
  for (const auto& [reasons, times] : times_by_reasons) {
    document.state(StatementKind::warning,
                   say("no method reaches {} here{}.", times_text(times), Text(reasons)));
  }
}

/// Point starts with different noise (Spec §6.1), and bounds that are missing altogether.
void state_gaps(const BoundAnswer& answer, Document& document) {
  const SdePair& pair = answer.question.problem.pair;
  const bool point = !is_definite(pair.p.start.covariance) || !is_definite(pair.q.start.covariance);
  const bool bounded = std::any_of(answer.at.begin(), answer.at.end(),
                                   [](const BoundsAtTime& at) { return at.proven || at.exact; });
  if (!same_noise(pair) && point && !bounded) {
    document.state(
        StatementKind::warning,
        say("point start and different noise: the integrated bounds are infinite, because the "
            "distributions differ in their covariances from the start. Give the start a covariance "
            "(start_covariance), or model discrete steps (sfumato quadratic)."));
  }
  state_unreached(answer, document);
  std::vector<double> unproven;
  for (const BoundsAtTime& at : answer.at) {
    if (!at.proven && !at.exact && has_numbers(at)) unproven.push_back(at.time);
  }
  if (unproven.empty()) return;
  document.state(
      StatementKind::warning,
      say("{}: nothing here is proven; the numbers are estimates.{}", times_text(unproven),
          common_noise(pair).value
              ? " A bound on the difference of the drifts ([assume] sensitivity) would "
                "give a proven bound."
              : ""));
}

/// A proven bound below what a grid finds would be a bug of ours; say it rather than hide it.
void state_contradictions(const BoundAnswer& answer, Document& document) {
  std::vector<double> above;
  for (const BoundsAtTime& at : answer.at) {
    if (grid_is_above(at)) above.push_back(at.time);
  }
  if (above.empty()) return;
  if (answer.verdict == Verdict::violated) {
    document.state(StatementKind::verdict,
                   say("{} at {}: the KL on the grid is above a bound. An assumption of "
                       "the file is false.",
                       VerdictWord{"VIOLATION"}, times_text(above)),
                   Outcome::bad);
    return;
  }
  document.state(StatementKind::warning,
                 say("{}: the KL on the grid is above a bound. Refine the grid; if that does not "
                     "help, please report a bug.",
                     times_text(above)));
}

/// What the strongest evidence at a time says of the best attack.
void state_answer(const BoundAnswer& answer, Document& document) {
  const auto last = std::find_if(answer.at.rbegin(), answer.at.rend(), has_numbers);
  if (last == answer.at.rend()) return;
  const auto sentence = [&](const char* evidence, const Claimed<double>& advantage) {
    document.state(StatementKind::info,
                   say("At {}, the best attack that sees the parameters once has advantage {} {} "
                       "({}).",
                       times_text({last->time}), Maths{std::string(symbol(advantage.claim))},
                       ClaimedNumber{advantage, NumberStyle::probability}, evidence));
  };
  if (last->exact) return sentence("exact", last->exact->advantage());
  if (last->proven) {
    return sentence(answer.question.problem.assumed.empty() ? "proven" : "as assumed",
                    last->proven->advantage());
  }
  if (last->grid) sentence("estimated on a grid; nothing is proven", last->grid->advantage);
}

Abstract abstract_of(const BoundAnswer& answer) {
  Abstract abstract;
  abstract.asked =
      say("Can somebody who sees the parameters once tell which of two data sets they were trained "
          "on?");
  abstract.released = say("The parameters of noisy training, once.");
  const auto last = std::find_if(answer.at.rbegin(), answer.at.rend(), has_numbers);
  if (last == answer.at.rend()) return abstract;
  const Text when = times_text({last->time});
  if (last->exact) {
    abstract.answer = say("At {} the best attacker guesses correctly {} of the time.", when,
                          percent_right(last->exact->advantage()));
  } else if (last->proven) {
    abstract.answer =
        say("At {} no attacker guesses correctly more than {} of the time ({}).", when,
            percent_right(last->proven->advantage()),
            answer.question.problem.assumed.empty() ? "proven" : "under the assumptions");
  } else if (last->grid) {
    abstract.answer =
        say("At {} the best attacker guesses correctly about {} of the time. This is an estimate: "
            "nothing is proven here.",
            when, percent_right(last->grid->advantage));
  } else {
    abstract.answer = say("At {} there are estimates only: nothing is proven here.", when);
  }
  abstract.advice =
      last->exact || last->proven
          ? say("Quote it for this pair of data sets only: it is no guarantee for other records or "
                "data.")
          : say("Do not rely on the estimates alone: a bound on the difference of the drifts "
                "([assume] sensitivity) would prove something.");
  return abstract;
}

void add_verdicts(const BoundAnswer& answer, Document& document) {
  if (answer.verdict == Verdict::none) return;
  for (const std::string& assumed : answer.question.problem.assumed) {
    document.add_verdict({"", assumed, answer.verdict, {}, {}, {}});
  }
}

Document new_bound_document(const BoundAnswer& answer) {
  const SdeProblem& problem = answer.question.problem;
  const std::string untitled =
      "Pair of diffusions" + (problem.source.empty() ? "" : " " + problem.source);
  Document document = new_document("bound", problem.title.empty() ? untitled : problem.title);
  if (!problem.source.empty()) document.add_provenance("problem", problem.source);
  document.add_provenance("seed", std::to_string(problem.plan.seed));
  return document;
}

Document full_document(const BoundAnswer& answer) {
  Document document = new_bound_document(answer);
  document.set_abstract(abstract_of(answer));
  state_problem(answer, document);
  for (std::size_t i = 0; i < answer.at.size(); ++i) {
    if (has_numbers(answer.at[i])) document.add(method_table(answer, i));
  }
  for (Table table : {bound_risk_table(answer), bound_delta_table(answer)}) {
    if (!table.rows().empty()) document.add(std::move(table));
  }
  if (Figure figure = bound_figure(answer); !figure.series().empty()) {
    document.add(std::move(figure));
  }
  state_gaps(answer, document);
  state_contradictions(answer, document);
  return document;
}

Document brief_document(const BoundAnswer& answer) {
  Document document = new_bound_document(answer);
  state_contradictions(answer, document);
  state_answer(answer, document);
  if (Table table = method_by_time_table(answer); !table.rows().empty()) {
    document.add(std::move(table));
  }
  state_assumed(answer, document);
  state_gaps(answer, document);
  return document;
}

}  // namespace

Document document_of(const BoundAnswer& answer, Detail detail) {
  Document document = detail == Detail::full ? full_document(answer) : brief_document(answer);
  add_results(answer, document);
  add_verdicts(answer, document);
  close_document(document, detail, answer.stopped, not_a_guarantee("Bounds for this one pair"));
  return document;
}

}  // namespace sfumato
