// Golden functions of Spec §27: two diffusions with different drift and different noise.
#include <fmt/format.h>

#include <Eigen/Cholesky>
#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <sstream>

#include "golden/registry.hpp"
#include "sfumato/core/error.hpp"
#include "sfumato/core/infinity.hpp"
#include "sfumato/divergence/fisher_box.hpp"
#include "sfumato/divergence/fokker_planck_pair.hpp"
#include "sfumato/divergence/gaussian_kl.hpp"
#include "sfumato/divergence/matched_chain.hpp"
#include "sfumato/divergence/matched_process.hpp"
#include "sfumato/divergence/matched_simulation.hpp"
#include "sfumato/divergence/matched_state_noise.hpp"
#include "sfumato/divergence/monte_carlo.hpp"
#include "sfumato/sde/contraction.hpp"
#include "sfumato/sde/family/formula.hpp"

namespace sfumato::apps {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

std::vector<double> numbers_from(const Json& json) { return json.get<std::vector<double>>(); }

double number(const Json& in, const char* name) { return in.at(name).get<double>(); }

/// "A", "xstar", "Sigma" and, of the second side, with "_prime".
OuProcess side_from(const Json& in, const std::string& suffix) {
  return process_from({{"A", in.at("A" + suffix)},
                       {"xstar", in.at("xstar" + suffix)},
                       {"Sigma", in.at("Sigma" + suffix)}});
}

OuPair pair_of(const Json& in) {
  const GaussianDistribution start = start_from(in);
  return {side_from(in, ""), start, side_from(in, "_prime"), start};
}

FisherInformation information_from(const Json& json) {
  if (json.is_null()) return std::nullopt;
  return matrix_from(json);
}

DriftFormulas drift_from(const std::string& formula) {
  return DriftFormulas({Expression::parse(formula, {"x", "t"})});
}

MatrixXd scalar(double value) { return MatrixXd::Constant(1, 1, value); }

void register_shifts(Registry& registry) {
  registry["shift_hull"] = [](const Json& in) -> Json {
    const ShiftHull hull = shift_hull(numbers_from(in.at("tau")), numbers_from(in.at("length")),
                                      number(in, "initial_distance"));
    return {{"bound", hull.bound}, {"slopes", hull.slopes}};
  };
  registry["shift_bound"] = [](const Json& in) -> Json {
    return {{"bound", shift_bound(numbers_from(in.at("times")), numbers_from(in.at("delta")),
                                  number(in, "kappa"), number(in, "initial_distance"))}};
  };
  registry["ou_shift_bound"] = [](const Json& in) -> Json {
    const OuPair pair = pair_of(in);
    const double time = number(in, "t");
    Covariance metric = pair.q.noise;
    if (in.at("metric") == "isotropic") {
      metric = Isotropic{spectrum_of(dense(metric)).values.minCoeff(), dimension(metric)};
    }
    const OuShiftBound bound = ou_shift_bound(pair, time, metric);
    return {
        {"kl", exact_kl(pair, time).value.value()}, {"kappa", bound.kappa}, {"bound", bound.bound}};
  };
  registry["point_start_noise"] = [](const Json& in) -> Json {
    const PointStartNoise point =
        point_start_noise(covariance_from("Sigma", in.at("Sigma")),
                          covariance_from("Sigma_prime", in.at("Sigma_prime")));
    return {{"kl", point.kl}, {"bound", point.bound}};
  };
  registry["matrix_weight_bound"] = [](const Json& in) -> Json {
    const OuPair pair = pair_of(in);
    const double time = number(in, "t");
    const auto bound = matrix_weight_bound(
        pair, time, {number(in, "c"), number(in, "k"), number(in, "gamma")},
        MatrixXd::Identity(pair.q.pull.size(), pair.q.pull.size()), pair.q.curvature);
    return {{"kl", exact_kl(pair, time).value.value()},
            {"bound", bound ? Json(*bound) : Json(nullptr)}};
  };
  registry["metric_contraction"] = [](const Json& in) -> Json {
    const MatrixXd metric = matrix_from(in.at("metric"));
    const RowContraction rate = row_contraction(
        matrix_from(in.at("rows")), number(in, "c"), number(in, "ridge"),
        Dense{metric.llt().solve(MatrixXd::Identity(metric.rows(), metric.cols()))});
    return {{"kappa", rate.kappa}, {"one_sided_upper", rate.upper}};
  };
  registry["chain_unequal_bound"] = [](const Json& in) -> Json {
    const OuPair flow = pair_of(in);
    const double eta = number(in, "eta");
    const LinearChainPair chain{{flow.p.curvature, flow.p.pull, eta, scaled(flow.p.noise, eta), {}},
                                flow.start_p,
                                {flow.q.curvature, flow.q.pull, eta, scaled(flow.q.noise, eta), {}},
                                flow.start_q};
    const double steps = number(in, "steps");
    const ChainUnequalBound bound = chain_unequal_bound(chain, steps);
    return {{"kl_final", exact_kl(chain, steps).value.value()},
            {"path_kl", path_kl(chain, steps).kl.value.value()},
            {"contraction", bound.contraction},
            {"hull", bound.hull},
            {"best", bound.best},
            {"split", bound.split}};
  };
}

void register_rates(Registry& registry) {
  registry["dual_rate_gaussian"] = [](const Json& in) -> Json {
    const OuProcess p = side_from(in, ""), q = side_from(in, "_prime");
    Covariance metric = q.noise;
    if (in.contains("metric")) {
      const MatrixXd n = matrix_from(in.at("metric"));
      metric = Dense{n.llt().solve(MatrixXd::Identity(n.rows(), n.cols()))};
    }
    const DualRate rate =
        dual_rate(p, q, {vector_from(in.at("mean")), covariance_from("cov", in.at("cov"))}, metric);
    return {{"drift_part", rate.drift_part},
            {"fisher_part", rate.fisher_part},
            {"rate", rate.drift_part + rate.fisher_part}};
  };
  registry["logistic_record_terms"] = [](const Json& in) -> Json {
    const RowIn side = in.value("row_in", "first") == "second" ? RowIn::second : RowIn::first;
    const RecordRate rate =
        logistic_record_rate(vector_from(in.at("w")), vector_from(in.at("x")), number(in, "y"),
                             number(in, "c"), covariance_from("Sigma", in.at("Sigma")),
                             covariance_from("Sigma_prime", in.at("Sigma_prime")), side);
    return {{"drift_norm2", rate.drift_norm},
            {"divergence_term", rate.divergence},
            {"drift_part", rate.value()},
            {"sup", rate.upper},
            {"inf", rate.lower}};
  };
  registry["dual_rate_state_1d"] = [](const Json& in) -> Json {
    const std::string beta = fmt::format("-x + {:.17g}", number(in, "beta"));
    const std::string noise = fmt::format("1 + {:.17g} sin(x)", number(in, "alpha"));
    const StateNoiseRate rate = state_noise_rate(
        drift_from("-x"), drift_from(beta), 1.0, Expression::parse(noise, {"x", "t"}),
        {VectorXd::Constant(1, number(in, "mean")), Isotropic{number(in, "var"), 1}});
    return {{"drift_part", rate.drift_part},
            {"fisher_part", rate.fisher_part},
            {"rate", rate.rate()},
            {"fisher_part_sup", rate.fisher_part_upper}};
  };
  registry["renyi_critical_order"] = [](const Json& in) -> Json {
    const Covariance p = covariance_from("cov_p", in.at("cov_p")),
                     q = covariance_from("cov_q", in.at("cov_q"));
    const VectorXd origin = VectorXd::Zero(dimension(p));
    return {{"order_pq", json_from(renyi_critical_order(whiten(origin, p, origin, q)))},
            {"order_qp", json_from(renyi_critical_order(whiten(origin, q, origin, p)))}};
  };
  registry["empirical_bernstein"] = [](const Json& in) -> Json {
    return {{"upper", empirical_bernstein(number(in, "mean"), number(in, "sd"),
                                          in.at("n").get<std::uint64_t>(), number(in, "range"),
                                          number(in, "alpha"))}};
  };
}

void register_fisher(Registry& registry) {
  registry["fisher_step"] = [](const Json& in) -> Json {
    const FisherStep step = fisher_step(information_from(in.at("J")), matrix_from(in.at("A")),
                                        matrix_from(in.at("Gamma")), matrix_from(in.at("S")));
    return {{"J_next", json_from(step.next)}, {"gain", json_from(step.gain)}};
  };
  registry["fisher_riccati"] = [](const Json& in) -> Json {
    const FisherFlow flow(matrix_from(in.at("drift_jacobian")), matrix_from(in.at("Gamma")),
                          matrix_from(in.at("Sigma")));
    return {{"J_t", json_from(flow.at(number(in, "t"), information_from(in.at("J0"))))},
            {"J_inf", json_from(flow.limit())}};
  };
  registry["shift_weight"] = [](const Json& in) -> Json {
    const DriftFormulas drift = drift_from(in.at("kind").get<std::string>());
    const double h = number(in, "h"), root = std::sqrt(h * number(in, "Sigma"));
    const double start_var = number(in, "start_var");
    VectorXd x = VectorXd::Constant(1, number(in, "x"));
    const double score = start_var > 0.0 ? -(x(0) - number(in, "start_mean")) / start_var : 0.0;
    std::vector<MatrixXd> shifts, slopes;
    for (const double k : numbers_from(in.at("K"))) shifts.push_back(scalar(k));
    std::vector<VectorXd> normals;
    for (const double xi : numbers_from(in.at("xi"))) {
      slopes.push_back(scalar(1.0) + h * drift.jacobian_at(0.0, x));
      normals.push_back(VectorXd::Constant(1, xi));
      x += h * drift.at(0.0, x) + root * normals.back();
    }
    const VectorXd weight =
        shift_weight(shifts, slopes, normals, scalar(root), VectorXd::Constant(1, score));
    return {{"x_end", x(0)}, {"weight", weight(0)}};
  };
  registry["path_statistic"] = [](const Json& in) -> Json {
    const DriftFormulas p = drift_from("x - x^3"), q = drift_from("1.1 x - x^3 + 0.2");
    PathWeights weights;
    weights.nodes = numbers_from(in.at("coef"));
    for (const double k : numbers_from(in.at("K"))) weights.gains.push_back(scalar(k));
    const double noise_prime = number(in, "Sigma_prime"), h = number(in, "h");
    const PathStatistic statistic(p, q, scalar(number(in, "Sigma")), scalar(noise_prime),
                                  scalar(1.0 / noise_prime), h, weights,
                                  FisherInformation(scalar(1.0 / number(in, "start_var"))));
    const std::vector<double> states = numbers_from(in.at("states"));
    Eigen::ArrayXd sum = Eigen::ArrayXd::Constant(1, statistic.fixed());
    for (std::size_t k = 0; k < states.size(); ++k) {
      statistic.add_node(k, h * static_cast<double>(k), Points::Constant(1, 1, states[k]), sum);
    }
    return {{"theta0", statistic.theta(0)(0, 0)}, {"statistic", sum(0)}};
  };
  registry["fisher_lower"] = [](const Json& in) -> Json {
    std::vector<Expression> features;
    std::istringstream list(in.at("features").get<std::string>());
    for (std::string text; std::getline(list, text, ',');)
      features.push_back(Expression::parse(text, {"x"}));
    const std::vector<double> samples = numbers_from(in.at("samples"));
    const auto m = static_cast<Index>(features.size());
    MatrixXd gradient = MatrixXd::Zero(m, 1), second = MatrixXd::Zero(m, m);
    const double share = 1.0 / static_cast<double>(samples.size());
    for (const double x : samples) {
      VectorXd f(m);
      for (Index i = 0; i < m; ++i) {
        const Expression& feature = features[static_cast<std::size_t>(i)];
        f(i) = feature.at(std::vector<double>{x});
        gradient(i, 0) += share * feature.derivative(0).at(std::vector<double>{x});
      }
      second += share * f * f.transpose();
    }
    return {{"J_lower", fisher_lower(-gradient, second)(0, 0)}};
  };
}

void register_boxes(Registry& registry) {
  registry["jacobian_box"] = [](const Json& in) -> Json {
    return {{"Gamma_bar", json_from(jacobian_spread(matrix_from(in.at("Delta")),
                                                    covariance_from("Sigma", in.at("Sigma"))))}};
  };
  registry["fisher_box_general"] = [](const Json& in) -> Json {
    const FisherFlow flow =
        fisher_box(matrix_from(in.at("B")), matrix_from(in.at("Gamma_bar")),
                   covariance_from("Sigma", in.at("Sigma")), number(in, "theta"));
    return {{"J_inf", json_from(flow.limit())}};
  };
  registry["box_contraction"] = [](const Json& in) -> Json {
    const MatrixXd middle = matrix_from(in.at("B")), radii = matrix_from(in.at("Delta"));
    const MatrixXd root = matrix_from(in.at("N")).llt().matrixU();  // N = L^T L
    return {{"kappa", box_contraction(JacobianBox{middle - radii, middle + radii},
                                      MatrixXd(root.inverse()))}};
  };
  registry["fisher_box"] = [](const Json& in) -> Json {
    const MatrixXd lower = matrix_from(in.at("H_lo")), upper = matrix_from(in.at("H_up"));
    const Covariance noise = covariance_from("Sigma", in.at("Sigma"));
    const HessianSpread hessian = hessian_spread(lower, upper, noise);
    const FisherFlow flow =
        fisher_box(-0.5 * (lower + upper), hessian.spread, noise, number(in, "theta"));
    return {{"omega", hessian.omega},
            {"Gamma_bar", json_from(hessian.spread)},
            {"J_inf", json_from(flow.limit())}};
  };
  registry["unequal_constants"] = [](const Json& in) -> Json {
    const MatrixXd lower = matrix_from(in.at("H_lo")), upper = matrix_from(in.at("H_up"));
    const Covariance noise = covariance_from("Sigma", in.at("Sigma"));
    const Covariance noise_prime = covariance_from("Sigma_prime", in.at("Sigma_prime"));
    const MatrixXd gap = 0.5 * (dense(noise_prime) - dense(noise));
    const FisherFlow flow =
        fisher_box(-0.5 * (lower + upper), hessian_spread(lower, upper, noise).spread, noise,
                   number(in, "theta"));
    const ConstantsBound bound =
        constants_bound(flow, information_from(in.at("J0")), gap * solve(noise_prime, gap),
                        number(in, "sup_drift_part"), number(in, "kappa"), number(in, "t"));
    return {{"fisher_limit", bound.fisher_limit},
            {"age", json_from(bound.age)},
            {"delta_end", bound.delta_end},
            {"bound", bound.bound}};
  };
  registry["isotropic_unequal"] = [](const Json& in) -> Json {
    const IsotropicBound bound = isotropic_constants_bound(
        number(in, "sigma"), number(in, "sigma_prime"), number(in, "L"), number(in, "kappa_prime"),
        number(in, "drift"), in.at("dim").get<Index>(), number(in, "t"));
    return {{"fisher", bound.fisher}, {"delta", bound.delta}, {"bound", bound.bound}};
  };
}

/// Moments of p on a grid over time, and the bound on its Fisher information that they give (27.5 (3)).
Json double_well(const Json& in) {
  const double noise = number(in, "Sigma"), noise_prime = number(in, "Sigma_prime");
  const GaussianDistribution start{VectorXd::Constant(1, number(in, "start_mean")),
                                   Isotropic{number(in, "start_var"), 1}};
  const std::string drift = in.at("drift"), drift_prime = in.at("drift_prime");
  const auto side = [&](const std::string& text, double sigma) {
    return StartedDiffusion{formula_diffusion({"x"}, {text}, Covariance(Isotropic{sigma, 1})),
                            start};
  };
  const double time = number(in, "t");
  constexpr int kTimes = 200;
  std::vector<double> times;
  for (int i = 0; i <= kTimes; ++i) times.push_back(time * i / kTimes);
  FokkerPlanckOptions options;
  options.keep_densities = true;
  const PairSolution solution =
      solve_fokker_planck_pair(side(drift, noise), side(drift_prime, noise_prime), times, options);
  const DriftFormulas b = drift_from(drift), b_prime = drift_from(drift_prime);
  const double gap = 0.5 * (noise_prime - noise), weight = gap * gap / noise_prime;
  const GridAxis& axis = solution.grid.axis(0);
  double information = 1.0 / number(in, "start_var"), bound = 0.0, before = 0.0, fisher = 0.0;
  double slope_before = 0.0, spread_before = 0.0;
  for (std::size_t k = 0; k < solution.rows.size(); ++k) {
    const Eigen::ArrayXd& p = solution.rows[k].p;
    double slope = 0.0, square = 0.0, drift_part = 0.0;
    fisher = 0.0;
    for (Index i = 0; i < p.size(); ++i) {
      const VectorXd x = VectorXd::Constant(1, axis.center(i));
      const double mass = p(i) * axis.width(), db = b.jacobian_at(0.0, x)(0, 0);
      const double a = (b.at(0.0, x) - b_prime.at(0.0, x))(0);
      slope += mass * db;
      square += mass * db * db;
      drift_part +=
          mass * (a * a - 2.0 * gap * (db - b_prime.jacobian_at(0.0, x)(0, 0))) / noise_prime;
      if (i > 0 && i + 1 < p.size() && p(i) > 0.0) {
        const double score = 0.5 * (p(i + 1) - p(i - 1)) / axis.width();
        fisher += axis.width() * score * score / p(i);
      }
    }
    const double spread = (square - slope * slope) / noise;
    if (k > 0) {
      const FisherFlow flow(scalar(0.5 * (slope + slope_before)),
                            scalar(0.5 * (spread + spread_before)), scalar(noise));
      information = flow.at(time / kTimes, scalar(information))(0, 0);
    }
    const double rate = drift_part + weight * information;
    if (k > 0) bound += 0.25 * (rate + before) * time / kTimes;
    before = rate, slope_before = slope, spread_before = spread;
  }
  return {{"kl", solution.rows.back().forward.kl.value},
          {"fisher", fisher},
          {"fisher_hat", information},
          {"path_bound", bound}};
}

}  // namespace

void register_unequal(Registry& registry) {
  register_shifts(registry);
  register_rates(registry);
  register_fisher(registry);
  register_boxes(registry);
  registry["double_well_unequal"] = double_well;
}

}  // namespace sfumato::apps
