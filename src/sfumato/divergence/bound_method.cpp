#include "sfumato/divergence/bound_method.hpp"

#include "sfumato/core/error.hpp"

namespace sfumato {
namespace {

struct Names {
  std::string_view name;
  std::string_view title;
};

Names names_of(BoundMethod method) {
  switch (method) {
    case BoundMethod::exact: return {"exact", "exact (Gaussian)"};
    case BoundMethod::stationary: return {"stationary", "stationary densities, exact"};
    case BoundMethod::fokker_planck: return {"fokker_planck", "Fokker-Planck"};
    case BoundMethod::primal: return {"primal", "Theorem 2.2, corrected"};
    case BoundMethod::dual: return {"dual", "Theorem 2.2, dual form"};
    case BoundMethod::minimum: return {"minimum", "smaller of both rates"};
    case BoundMethod::path: return {"path", "path KL"};
    case BoundMethod::contractive: return {"contractive", "contractive"};
    case BoundMethod::sensitivity: return {"sensitivity", "uniform sensitivity"};
    case BoundMethod::constants: return {"constants", "convexity constants"};
    case BoundMethod::constants_uniform:
      return {"constants_uniform", "convexity constants, all times"};
    case BoundMethod::matched: return {"matched", "matched process"};
    case BoundMethod::matched_constants: return {"matched_constants", "matched process, constants"};
    case BoundMethod::local: return {"local", "curvature near the minimiser"};
    case BoundMethod::primal_grid: return {"primal_grid", "Theorem 2.2, corrected, on the grid"};
    case BoundMethod::dual_grid: return {"dual_grid", "Theorem 2.2, dual form, on the grid"};
    case BoundMethod::minimum_grid: return {"minimum_grid", "smaller of both rates, on the grid"};
    case BoundMethod::path_grid: return {"path_grid", "path KL, on the grid"};
    case BoundMethod::path_simulated: return {"path_paths", "path KL, simulated"};
    case BoundMethod::contractive_simulated: return {"contractive_paths", "contractive, simulated"};
    case BoundMethod::primal_particles:
      return {"primal_particles", "Theorem 2.2, corrected, simulated"};
    case BoundMethod::dual_particles:
      return {"dual_particles", "Theorem 2.2, dual form, simulated"};
    case BoundMethod::matched_simulated: return {"matched_simulated", "matched process, simulated"};
  }
  throw InternalError("a method without a name");
}

}  // namespace

std::string_view name(BoundMethod method) { return names_of(method).name; }

std::string_view title(BoundMethod method) { return names_of(method).title; }

}  // namespace sfumato
