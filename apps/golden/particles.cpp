// Golden functions of Spec §12.2: the score of a distribution from particles.
#include "golden/registry.hpp"
#include "sfumato/sde/particle_score.hpp"

namespace sfumato::apps {

void register_particles(Registry& registry) {
  registry["mixture_score"] = [](const Json& in) -> Json {
    const Eigen::MatrixXd particles = matrix_from(in.at("particles"));
    const Eigen::MatrixXd drift = matrix_from(in.at("drift"));
    // The golden file gives the drift at the particles as numbers.
    const Diffusion diffusion{
        particles.cols(),
        [&](double, const ConstPoints&, MutablePoints out) { out = drift.array(); },
        require_covariance("Sigma", Dense{matrix_from(in.at("Sigma"))})};
    const ParticleScore::Value value =
        ParticleScore(diffusion, 0.0, particles.array(), in.at("h").get<double>())
            .at(vector_from(in.at("y")));
    return {{"log_density", json_from(value.log_density)}, {"score", json_from(value.score)}};
  };
}

}  // namespace sfumato::apps
