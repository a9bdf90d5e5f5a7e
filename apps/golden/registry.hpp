#pragma once

#include <Eigen/Core>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "golden/golden_answer.hpp"
#include "sfumato/math/whitened_pair.hpp"
#include "sfumato/sde/ou_distribution.hpp"

namespace sfumato::apps {

using Json = nlohmann::json;

/// One function of a golden file (Spec §15): its inputs to its outputs. An output that is known between two ends is {"lo": .., "hi": ..}, one
/// of which may be missing; "width" says how wide it is known to be, relative to the value, where that is more than the file allows.
using Evaluate = std::function<Json(const Json& inputs)>;
using Registry = std::map<std::string, Evaluate>;

/// Each module adds the functions it implements; `verify` counts the others as skipped.
void register_gaussian(Registry& registry);       // Spec §2 and §3
void register_conversions(Registry& registry);    // Spec §4
void register_quadratic(Registry& registry);      // Spec §5
void register_bounds(Registry& registry);         // Spec §6 and §7
void register_chain(Registry& registry);          // Spec §8
void register_design(Registry& registry);         // Spec §9 and §13
void register_minibatch(Registry& registry);      // Spec §10
void register_audit(Registry& registry);          // Spec §11
void register_particles(Registry& registry);      // Spec §12.2
void register_fokker_planck(Registry& registry);  // Spec §12.3 and §12.4
void register_accounting(Registry& registry);     // Spec §17 to §20
void register_training(Registry& registry);       // Spec §23 and §25
void register_guarantees(Registry& registry);     // Spec §21, §22 and §24
void register_unequal(Registry& registry);        // Spec §27

/// All of them. Modules above this one add theirs to a copy (paper/golden.hpp).
[[nodiscard]] Registry library_functions();

/// answer() with these functions in place of the library's.
[[nodiscard]] VerifyAnswer answer(const VerifyQuestion& question, const Registry& functions,
                                  Observer& observer);

[[nodiscard]] Eigen::VectorXd vector_from(const Json& json);
[[nodiscard]] Eigen::MatrixXd matrix_from(const Json& json);
[[nodiscard]] Json json_from(const Eigen::VectorXd& vector);
[[nodiscard]] Json json_from(const Eigen::MatrixXd& matrix);
/// Infinite values become the string "inf", as golden files write them.
[[nodiscard]] Json json_from(double value);

/// A, xstar, Sigma of one side; and its m0, V0.
[[nodiscard]] Covariance covariance_from(const char* name, const Json& json);
[[nodiscard]] OuProcess process_from(const Json& side);
[[nodiscard]] GaussianDistribution start_from(const Json& side);

/// mean_p, cov_p, mean_q, cov_q of a case.
[[nodiscard]] WhitenedPair pair_from(const Json& inputs);

}  // namespace sfumato::apps
