// Golden functions of Spec §12.3 and §12.4: Fokker-Planck on grids. The golden file gives drifts, noise
// and starts as texts.
#include <fmt/format.h>

#include <cctype>
#include <regex>
#include <string>
#include <utility>
#include <vector>

#include "golden/registry.hpp"
#include "sfumato/core/error.hpp"
#include "sfumato/divergence/fokker_planck_pair.hpp"
#include "sfumato/sde/family/formula.hpp"
#include "sfumato/sde/fokker_planck/operator.hpp"

namespace sfumato::apps {
namespace {

/// Puts `meaning` for every `name` that stands alone (S, but not S' or Sx).
std::string replaced(const std::string& text, const std::string& name, const std::string& meaning) {
  const auto belongs = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '\'' || c == '_';
  };
  std::string result;
  for (std::size_t i = 0; i < text.size();) {
    const bool here = text.compare(i, name.size(), name) == 0 &&
                      (i == 0 || !belongs(text[i - 1])) &&
                      (i + name.size() == text.size() || !belongs(text[i + name.size()]));
    result += here ? "(" + meaning + ")" : std::string(1, text[i]);
    i += here ? name.size() : 1;
  }
  return result;
}

/// "formula with S(x)=..., S'(x)=..." as one formula.
std::string formula_from(const std::string& text) {
  const std::size_t with = text.find(" with ");
  if (with == std::string::npos) return text;
  std::string formula = text.substr(0, with);
  const std::string definitions = text.substr(with + 6);
  static const std::regex definition(R"((\w+'*)\(x\)\s*=\s*([^,]+))");
  for (std::sregex_iterator it(definitions.begin(), definitions.end(), definition), end; it != end;
       ++it) {
    formula = replaced(formula, (*it)[1], (*it)[2]);
  }
  return formula;
}

std::vector<std::string> formulas_from(const Json& json) {
  if (json.is_string()) return {formula_from(json.get<std::string>())};
  std::vector<std::string> formulas;
  for (const Json& entry : json) formulas.push_back(formula_from(entry.get<std::string>()));
  return formulas;
}

/// "N(0.3, variance 0.2)" or "N((0.3,0), 0.2 I)".
GaussianDistribution start_of_text(const std::string& text) {
  static const std::regex number(R"([-+]?\d+\.?\d*(?:[eE][-+]?\d+)?)");
  std::vector<double> numbers;
  for (std::sregex_iterator it(text.begin(), text.end(), number), end; it != end; ++it) {
    numbers.push_back(std::stod(it->str()));
  }
  if (numbers.size() < 2) {
    throw InvalidArgument(fmt::format("p0 is \"{}\"", text),
                          "Give N(mean, variance v), or N((m1,m2), v I)");
  }
  const auto dimension = static_cast<Eigen::Index>(numbers.size() - 1);
  return {Eigen::Map<const Eigen::VectorXd>(numbers.data(), dimension),
          Isotropic{numbers.back(), dimension}};
}

NoiseFormulas noise_from(const Json& json) {
  if (json.is_string()) return formulas_from(json);
  return Covariance(Diagonal{vector_from(json)});
}

PairAtTime solve_pair(const Json& in, const Json& noise, const Json& noise_prime) {
  const GaussianDistribution start = start_of_text(in.at("p0").get<std::string>());
  const auto names = coordinate_names(start.mean.size());
  const auto side = [&](const char* drift, const Json& sigma) {
    return StartedDiffusion{
        formula_diffusion(names, formulas_from(in.at(drift)), noise_from(sigma)), start};
  };
  return solve_fokker_planck_pair(side("b", noise), side("b_prime", noise_prime),
                                  {in.at("t").get<double>()})
      .rows.front();
}

}  // namespace

void register_fokker_planck(Registry& registry) {
  registry["bernoulli_function"] = [](const Json& in) -> Json {
    return {{"B", bernoulli_function(in.at("w").get<double>())}};
  };
  registry["fokker_planck_1d"] = [](const Json& in) -> Json {
    const PairAtTime pair = solve_pair(in, in.at("Sigma"), in.at("Sigma_prime"));
    return {{"kl", pair.forward.kl.value},
            {"corrected", pair.forward.primal_bound.value},
            {"dual", pair.forward.dual_bound.value}};
  };
  registry["fokker_planck_2d"] = [](const Json& in) -> Json {
    const PairAtTime pair = solve_pair(in, in.at("Sigma_diag"), in.at("Sigma_diag"));
    return {{"kl", pair.forward.kl.value}};
  };
}

}  // namespace sfumato::apps
