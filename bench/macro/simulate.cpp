// The native half of simulate.py: one case per call, one line of output.
//   macro_simulate double_well|ou PATHS STEPS THREADS   -> estimate, standard error,
//                                                          seconds, seconds of processor time
//   macro_simulate normals 0 0 1                        -> million float normals per second, one core
//   macro_simulate flops 0 0 1                          -> GFLOP/s of unfused vector arithmetic, one core
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>
#include <vector>

#include "sfumato/core/vector_clones.hpp"
#include "sfumato/divergence/path_estimate.hpp"
#include "sfumato/random/stream.hpp"
#include "sfumato/sde/linear_drift.hpp"

namespace {

using namespace sfumato;

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

struct Case {
  Diffusion p, q;
  GaussianDistribution start;
};

Case double_well() {  // Spec §12.3
  return {{1, polynomial_drift({0.0, 1.0, 0.0, -1.0}), Isotropic{0.64, 1}},
          {1, polynomial_drift({0.2, 1.1, 0.0, -1.0}), Isotropic{0.64, 1}},
          {Eigen::VectorXd::Constant(1, 0.3), Isotropic{0.2, 1}}};
}

/// A_ij = 1.5 [i = j] + 0.3 cos(i + j), A' = A + 0.1 I, pull_i = sin(i), pull' = 1.1 pull.
Case ten_dimensional_ou() {
  constexpr Eigen::Index d = 10;
  Eigen::MatrixXd a(d, d);
  Eigen::VectorXd pull(d);
  for (Eigen::Index i = 0; i < d; ++i) {
    pull(i) = std::sin(static_cast<double>(i));
    for (Eigen::Index j = 0; j < d; ++j) {
      a(i, j) = (i == j ? 1.5 : 0.0) + 0.3 * std::cos(static_cast<double>(i + j));
    }
  }
  const Eigen::MatrixXd b = a + 0.1 * Eigen::MatrixXd::Identity(d, d);
  return {{d, linear_drift(a, pull), Isotropic{1.0, d}},
          {d, linear_drift(b, 1.1 * pull), Isotropic{1.0, d}},
          {Eigen::VectorXd::Zero(d), Isotropic{0.2, d}}};
}

double million_normals_per_second() {
  const Stream stream(StreamKey(1, Purpose::simulation));
  std::vector<float> values(16384);
  double best = 0.0;
  for (std::uint64_t round = 0; round < 200; ++round) {
    const auto start = std::chrono::steady_clock::now();
    for (std::uint64_t step = 0; step < 10; ++step)
      stream.fill_normal(10 * round + step, 0, values);
    best = std::max(best, 1e-6 * 10.0 * static_cast<double>(values.size()) / seconds_since(start));
  }
  return best;
}

/// Six chains of multiplications and six of additions, none waiting for another.
SFUMATO_VECTOR_CLONES
double multiply_and_add(std::uint64_t rounds) {
  Four product[6], sum[6];
  for (int i = 0; i < 6; ++i) product[i] = sum[i] = Four{} + (1.0 + i);
  const Four factor = Four{} + 1.0000001;
  for (std::uint64_t k = 0; k < rounds; ++k) {
#pragma GCC unroll 6
    for (int i = 0; i < 6; ++i) {
      product[i] *= factor;
      sum[i] += factor;
    }
  }
  double total = 0.0;
  for (int i = 0; i < 6; ++i) total += product[i][0] + sum[i][0];
  return total;
}

double gigaflops() {
  double best = 0.0, sink = 0.0;
  for (int round = 0; round < 50; ++round) {
    const auto start = std::chrono::steady_clock::now();
    sink += multiply_and_add(100000);
    best = std::max(best, 1e-9 * 100000.0 * 12.0 * 4.0 / seconds_since(start));
  }
  return sink == 0.0 ? 0.0 : best;
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 5) {
    std::fprintf(stderr, "usage: %s double_well|ou|normals|flops PATHS STEPS THREADS\n",
                 arguments[0]);
    return 64;
  }
  const std::string what = arguments[1];
  if (what == "normals") return std::printf("%.1f\n", million_normals_per_second()) > 0 ? 0 : 1;
  if (what == "flops") return std::printf("%.2f\n", gigaflops()) > 0 ? 0 : 1;
  const Case problem = what == "ou" ? ten_dimensional_ou() : double_well();
  PathEstimateOptions options;
  options.halve = false;
  options.simulation.paths = std::strtoull(arguments[2], nullptr, 10);
  options.simulation.threads = static_cast<unsigned>(std::strtoul(arguments[4], nullptr, 10));
  const double steps = std::strtod(arguments[3], nullptr);
  Observer silent;
  const std::clock_t busy_start = std::clock();
  const auto start = std::chrono::steady_clock::now();
  const PathEstimate result =
      path_estimate(problem.p, problem.q, problem.start, {{1.0}, 1.0 / steps}, options, silent)
          .value;
  const double seconds = seconds_since(start);
  const double busy = static_cast<double>(std::clock() - busy_start) / CLOCKS_PER_SEC;
  const MonteCarloMean mean = result.bounds.front().at_step;
  std::printf("%.9g %.3g %.6f %.6f\n", mean.value, mean.standard_error, seconds, busy);
  return 0;
}
