// Golden functions of Spec §11: what audits compute from counts.
#include "golden/registry.hpp"
#include "sfumato/audit/lower_bounds.hpp"
#include "sfumato/audit/one_run.hpp"
#include "sfumato/audit/proportion_intervals.hpp"

namespace sfumato::apps {
namespace {

TestCounts counts_from(const Json& in) {
  return {in.at("true_positives").get<std::uint64_t>(), in.at("positives").get<std::uint64_t>(),
          in.at("false_positives").get<std::uint64_t>(), in.at("negatives").get<std::uint64_t>()};
}

CanaryGuesses guesses_from(const Json& in) {
  return {in.at("m").get<std::uint64_t>(), in.at("r").get<std::uint64_t>(),
          in.at("v").get<std::uint64_t>()};
}

}  // namespace

void register_audit(Registry& registry) {
  registry["clopper_pearson"] = [](const Json& in) -> Json {
    const auto successes = in.at("successes").get<std::uint64_t>();
    const auto trials = in.at("trials").get<std::uint64_t>();
    const double tail = in.at("tail").get<double>();
    return {{"lower", clopper_pearson_lower(successes, trials, tail)},
            {"upper", clopper_pearson_upper(successes, trials, tail)}};
  };
  registry["eps_lower_bound"] = [](const Json& in) -> Json {
    const RateBounds rates = rate_bounds(counts_from(in), in.at("alpha").get<double>());
    const Delta delta(in.at("delta").get<double>());
    return {{"tpr_lower", rates.tpr_lower},
            {"fpr_upper", rates.fpr_upper},
            {"eps_lower", epsilon_lower(rates, delta)},
            {"mu_lower", mu_lower(rates)}};
  };
  registry["delta_lower_bound"] = [](const Json& in) -> Json {
    const RateBounds rates = rate_bounds(counts_from(in), in.at("alpha").get<double>());
    return {{"delta_lower", delta_lower(rates, Epsilon(in.at("eps").get<double>()))}};
  };
  registry["one_run_p_value"] = [](const Json& in) -> Json {
    return {{"p", one_run_p_value(guesses_from(in), Epsilon(in.at("eps").get<double>()),
                                  Delta(in.at("delta").get<double>()))}};
  };
  registry["one_run_eps"] = [](const Json& in) -> Json {
    const Delta delta(in.at("delta").get<double>());
    const double confidence = 1.0 - in.at("p").get<double>();
    return {{"eps_lower",
             one_run_epsilon_lower_bound(guesses_from(in), delta, confidence).value.nats()}};
  };
  registry["credible_epsilon"] = [](const Json& in) -> Json {
    const EpsilonInterval interval =
        credible_epsilon(counts_from(in), Delta(in.at("delta").get<double>()),
                         in.at("credibility").get<double>(), Worlds::independent);
    return {{"lower", interval.lower.value.nats()}, {"upper", interval.upper.value.nats()}};
  };
}

}  // namespace sfumato::apps
