#include "sfumato/sde/fokker_planck/scheme.hpp"

// The same bits on every machine: no contraction, no reassociation, only wider registers. Sanitizers
// do not get along with the resolvers that target_clones makes.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define SFUMATO_WIDE __attribute__((target_clones("avx2", "default")))
#else
#define SFUMATO_WIDE
#endif

namespace sfumato {
namespace {

using Eigen::Index;

SFUMATO_WIDE void solve_lines(double* density, const double* carry, const double* inverse,
                              const double* back, Index cells, Index lines) {
  for (Index i = 1; i < cells; ++i) {
    double* here = density + i * lines;
    const double* before = here - lines;
    const double* factor = carry + (i - 1) * lines;
#pragma GCC ivdep
    for (Index l = 0; l < lines; ++l) here[l] += factor[l] * before[l];
  }
  double* last = density + (cells - 1) * lines;
  const double* last_inverse = inverse + (cells - 1) * lines;
  for (Index l = 0; l < lines; ++l) last[l] *= last_inverse[l];
  for (Index i = cells - 2; i >= 0; --i) {
    double* here = density + i * lines;
    const double* after = here + lines;
    const double* scale = inverse + i * lines;
    const double* factor = back + i * lines;
#pragma GCC ivdep
    for (Index l = 0; l < lines; ++l) here[l] = scale[l] * here[l] + factor[l] * after[l];
  }
}

/// One line: the recurrences are chains of dependent operations, so what counts is their latency.
void solve_line(double* density, const double* carry, const double* inverse, const double* back,
                Index cells) {
  double running = density[0];
  for (Index i = 1; i < cells; ++i) {
    running = density[i] + carry[i - 1] * running;
    density[i] = running;
  }
  running *= inverse[cells - 1];
  density[cells - 1] = running;
  for (Index i = cells - 2; i >= 0; --i) {
    running = inverse[i] * density[i] + back[i] * running;
    density[i] = running;
  }
}

}  // namespace

void ImplicitEuler::factor(const JumpRates& rates, double dt, Index cells, Index lines) {
  cells_ = cells;
  lines_ = lines;
  const Index faces = (cells - 1) * lines;
  carry_.resize(faces);
  back_.resize(faces);
  inverse_.resize(cells * lines);
  // Column i of I - dt Q has the diagonal 1 + dt up_i + dt down_{i-1}. Elimination leaves the pivot
  // r_i + dt up_i with r_0 = 1, r_i = 1 + dt down_{i-1} r_{i-1} / pivot_{i-1}: r_i is what remains of
  // the column after the part that goes on upwards.
  Eigen::ArrayXd rest = Eigen::ArrayXd::Ones(lines);
  for (Index i = 0; i < cells; ++i) {
    for (Index l = 0; l < lines; ++l) {
      const Index at = i * lines + l;
      const double up = i + 1 < cells ? dt * rates.up(at) : 0.0;
      const double pivot = rest(l) + up;
      inverse_(at) = 1.0 / pivot;
      if (i + 1 == cells) continue;
      const double down = dt * rates.down(at);
      carry_(at) = up / pivot;
      back_(at) = down / pivot;
      rest(l) = 1.0 + down * (rest(l) / pivot);
    }
  }
}

void ImplicitEuler::solve(double* density) const {
  if (lines_ == 1) {
    solve_line(density, carry_.data(), inverse_.data(), back_.data(), cells_);
  } else {
    solve_lines(density, carry_.data(), inverse_.data(), back_.data(), cells_, lines_);
  }
}

}  // namespace sfumato
