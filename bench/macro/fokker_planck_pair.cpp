// One Fokker-Planck pair of section 12, solved and timed; a line of JSON for bench/macro/fokker_planck.py.
//
//   fokker_planck_pair 1d|2d CELLS TIME THREADS
#include "sfumato/divergence/fokker_planck_pair.hpp"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>

#include "support/fokker_planck_problems.hpp"

int main(int argc, char** argv) {
  using namespace sfumato;
  using Clock = std::chrono::steady_clock;
  if (argc != 5) {
    std::fputs("usage: fokker_planck_pair 1d|2d CELLS TIME THREADS\n", stderr);
    return 64;
  }
  try {
    const bool plane = std::string(argv[1]) == "2d";
    FokkerPlanckOptions options;
    options.cells_per_axis = std::atol(argv[2]);
    options.threads = std::atoi(argv[4]);
    options.domain =
        plane ? std::vector<Interval>{{-3, 3}, {-3, 3}} : std::vector<Interval>{{-4, 4}};
    const double time = std::atof(argv[3]);
    const auto p = plane ? testing::double_well_2d(0.0, 0.0) : testing::double_well_p();
    const auto q = plane ? testing::double_well_2d(0.2, 0.1) : testing::double_well_q(0.64);
    const auto start = Clock::now();
    const PairSolution solution = solve_fokker_planck_pair(p, q, {time}, options);
    const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
    const PairDirection& found = solution.rows.at(0).forward;
    std::printf(
        "{\"seconds\": %.6f, \"kl\": %.12g, \"kl_error\": %.3g, \"primal\": %.12g, "
        "\"primal_error\": %.3g, \"steps\": %ld, \"mass_error\": %.3g, \"boundary_mass\": %.3g}\n",
        seconds, found.kl.value, found.kl.error, found.primal_bound.value, found.primal_bound.error,
        static_cast<long>(solution.steps), solution.mass_error, solution.boundary_mass);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 65;
  }
  return 0;
}
