#include "sfumato/answers/rows/views.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace sfumato {
namespace {

RiskNumber larger(const RiskNumber& a, const RiskNumber& b) {
  const bool bounded = a.claim == Claim::upper_bound || b.claim == Claim::upper_bound;
  return {std::max(a.value, b.value), bounded ? Claim::upper_bound : Claim::exact};
}

}  // namespace

std::vector<View> views(const RowRiskOptions& options, bool with_mu) {
  constexpr auto general = NumberStyle::general;
  constexpr auto probability = NumberStyle::probability;
  std::vector<View> list{
      {"advantage", "advantage", probability, [](const RowRisk& r) { return r.advantage; }}};
  if (with_mu) {
    list.push_back({"mu", "mu", general, [](const RowRisk& r) { return r.mu; }});
  }
  list.push_back(
      {"kl_forward", "KL(D||D')", general, [](const RowRisk& r) { return r.forward.kl; }});
  list.push_back(
      {"kl_reverse", "KL(D'||D)", general, [](const RowRisk& r) { return r.reverse.kl; }});
  for (std::size_t k = 0; k < options.epsilons.size(); ++k) {
    const std::string eps = format_input(options.epsilons[k].nats());
    const std::string digits = fmt::format("{}", options.epsilons[k].nats());
    list.push_back({"delta_forward_at_" + digits, fmt::format("delta({}) D||D'", eps), probability,
                    [k](const RowRisk& r) { return r.forward.delta[k]; }});
    list.push_back({"delta_reverse_at_" + digits, fmt::format("delta({}) D'||D", eps), probability,
                    [k](const RowRisk& r) { return r.reverse.delta[k]; }});
  }
  const std::string delta = format_input(options.delta.probability());
  list.push_back({"epsilon_forward", fmt::format("eps({}) D||D'", delta), general,
                  [](const RowRisk& r) { return r.forward.epsilon; }});
  list.push_back({"epsilon_reverse", fmt::format("eps({}) D'||D", delta), general,
                  [](const RowRisk& r) { return r.reverse.epsilon; }});
  return list;
}

std::vector<View> worst_views(const RowRiskOptions& options) {
  constexpr auto general = NumberStyle::general;
  constexpr auto probability = NumberStyle::probability;
  std::vector<View> list{
      {"advantage", "advantage", probability, [](const RowRisk& r) { return r.advantage; }},
      {"kl", "KL", general, [](const RowRisk& r) { return larger(r.forward.kl, r.reverse.kl); }}};
  for (std::size_t k = 0; k < options.epsilons.size(); ++k) {
    const std::string eps = format_input(options.epsilons[k].nats());
    list.push_back({fmt::format("delta_at_{}", options.epsilons[k].nats()),
                    fmt::format("delta({})", eps), probability, [k](const RowRisk& r) {
                      return larger(r.forward.delta[k], r.reverse.delta[k]);
                    }});
  }
  list.push_back({"epsilon", fmt::format("eps({})", format_input(options.delta.probability())),
                  general,
                  [](const RowRisk& r) { return larger(r.forward.epsilon, r.reverse.epsilon); }});
  return list;
}

std::vector<Trait> ridge_traits() {
  return {{"leverage", "leverage", "hat-matrix diagonal",
           [](const RowRisk& risk) { return risk.leverage; }}};
}

std::vector<Trait> logistic_traits(const ClassificationFit& fit) {
  const ClassificationProblem& problem = fit.problem();
  const Eigen::VectorXd norms = problem.features().rowwise().norm();
  const Eigen::VectorXd scores = problem.features() * fit.convexity().minimiser;
  Eigen::VectorXd fitted(norms.size());
  for (Eigen::Index row = 0; row < fitted.size(); ++row) {
    const double towards = problem.record(row).target == 1.0 ? scores(row) : -scores(row);
    fitted(row) = 1.0 / (1.0 + std::exp(-towards));
  }
  return {{"norm", "|x|", "norm of the features",
           [norms](const RowRisk& risk) { return norms(risk.row); }},
          {"fitted", "fit", "probability of the row's label at the minimiser",
           [fitted](const RowRisk& risk) { return fitted(risk.row); }}};
}

}  // namespace sfumato
