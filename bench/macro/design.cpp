// The native half of design.py: one case per call, one line of output.
//   macro_design FORM KIND K D TOLERANCE [THREADS]   -> value, gap, iterations, seconds
// FORM is average, diagonal, full or low_rank. KIND says what the differences are like: normal (all
// coordinates alike), scaled (coordinates and differences of very different sizes, nine of ten entries
// zero) or a file of raw doubles, row by row.
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <random>
#include <string>

#include "sfumato/design/average_design.hpp"
#include "sfumato/design/minimax_design.hpp"

namespace {

using namespace sfumato;

RowMajorMatrix make(const std::string& kind, Eigen::Index count, Eigen::Index dimension) {
  RowMajorMatrix s(count, dimension);
  if (kind != "normal" && kind != "scaled") {
    std::ifstream file(kind, std::ios::binary);
    file.read(reinterpret_cast<char*>(s.data()),
              static_cast<std::streamsize>(sizeof(double)) * s.size());
    if (!file) std::exit(2);
    return s;
  }
  std::mt19937_64 engine(7);
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> uniform;
  Eigen::VectorXd sizes = Eigen::VectorXd::Ones(dimension);
  if (kind == "scaled") {
    for (double& size : sizes) size = std::exp(1.5 * normal(engine));
  }
  for (Eigen::Index k = 0; k < count; ++k) {
    const double length = kind == "scaled" ? std::exp(0.5 * normal(engine)) : 1.0;
    for (Eigen::Index i = 0; i < dimension; ++i) {
      const bool zero = kind == "scaled" && uniform(engine) < 0.9;
      s(k, i) = zero ? 0.0 : length * sizes(i) * normal(engine);
    }
  }
  return s;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 6) return 64;
  const std::string form = argv[1];
  const RowMajorMatrix s = make(argv[2], std::atol(argv[3]), std::atol(argv[4]));
  DesignTask task{.budget = trace_budget(s.cols(), 1.0)};
  const SolverOptions options{.tolerance = std::atof(argv[5]),
                              .threads = argc > 6 ? static_cast<unsigned>(std::atoi(argv[6])) : 0U};
  if (form == "full") task.form = DesignForm::full;
  if (form == "low_rank") {
    task.form = DesignForm::low_rank;
    task.regularisation = 1e-6 * s.squaredNorm() / static_cast<double>(s.size());
  }
  Observer quiet;
  const auto start = std::chrono::steady_clock::now();
  const Design design = form == "average" ? average_design(second_moments(s), task)
                                          : minimax_design(s, task, options, quiet);
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  std::printf("%.17g %.3g %d %.4f\n", design.value, design.gap, design.iterations, seconds);
}
