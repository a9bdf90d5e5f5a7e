// Golden functions of Spec §9 and §13: the choice of the noise.
#include "golden/registry.hpp"
#include "sfumato/design/average_design.hpp"
#include "sfumato/design/minimax_design.hpp"
#include "sfumato/design/stationary_quadratic.hpp"

namespace sfumato::apps {
namespace {

/// Golden inputs call W "A" where it is a matrix and "weights" where it is diagonal.
DesignTask task_from(const Json& in, DesignForm form) {
  const Covariance weights = in.contains("A") ? Covariance(Dense{matrix_from(in.at("A"))})
                                              : Covariance(Diagonal{vector_from(in.at("weights"))});
  DesignTask task{.budget = {weights, in.at("zeta").get<double>()}, .form = form};
  task.regularisation = in.value("rho", 0.0);
  if (in.contains("floor")) {
    task.floor = Eigen::VectorXd::Constant(dimension(weights), in.at("floor").get<double>());
  }
  return task;
}

Json minimax(const Json& in, DesignForm form) {
  Observer quiet;
  const SolverOptions options{.tolerance = 1e-11};
  const Design design =
      minimax_design(matrix_from(in.at("sensitivities")), task_from(in, form), options, quiet);
  const bool diagonal = form == DesignForm::diagonal;
  return {{"value", json_from(design.value)},
          {"objective", json_from(design.objective)},
          {diagonal ? "variances" : "Sigma", diagonal ? json_from(diagonal_of(design.covariance))
                                                      : json_from(dense(design.covariance))},
          {"weights", json_from(design.pair_weights)}};
}

}  // namespace

void register_design(Registry& registry) {
  registry["optimal_diag"] = [](const Json& in) -> Json {
    const Design design = average_design(Diagonal{vector_from(in.at("second_moments"))},
                                         task_from(in, DesignForm::diagonal));
    return {{"variances", json_from(diagonal_of(design.covariance))},
            {"value", json_from(design.value)},
            {"isotropic_value", json_from(design.isotropic_value)}};
  };
  registry["optimal_full"] = [](const Json& in) -> Json {
    const Design design =
        average_design(Dense{matrix_from(in.at("G"))}, task_from(in, DesignForm::full));
    return {{"Sigma", json_from(dense(design.covariance))}, {"value", json_from(design.value)}};
  };
  registry["minimax_full"] = [](const Json& in) { return minimax(in, DesignForm::full); };
  registry["minimax_diag"] = [](const Json& in) { return minimax(in, DesignForm::diagonal); };
  registry["stationary_quadratic_design"] = [](const Json& in) -> Json {
    const StationaryQuadraticDesign design = stationary_quadratic_design(
        vector_from(in.at("eigenvalues")), vector_from(in.at("minimiser_shift")),
        in.at("error_budget").get<double>());
    return {{"variances", json_from(design.variances)},
            {"kl_anisotropic", json_from(design.kl)},
            {"kl_isotropic", json_from(design.isotropic_kl)},
            {"isotropic_variance", json_from(design.isotropic_variance)}};
  };
}

}  // namespace sfumato::apps
