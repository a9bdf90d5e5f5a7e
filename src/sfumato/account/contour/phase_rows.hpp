#pragma once

#include <complex>
#include <cstddef>
#include <vector>

namespace sfumato {

/// sum_j A_j (e^{i y_n L_j} - 1) at y_n = 2 pi n / period for every n < count, for weights A_j >= 0, and by how much the rows are off at
/// most beyond the roundings of A_j and L_j: error + slope y.
struct PhaseRows {
  std::vector<std::complex<double>> change;
  double error = 0.0, slope = 0.0;

  [[nodiscard]] double error_at(double y) const { return error + slope * y; }
};

/// Row by row where that takes little work (phase_sum.hpp), and where a few roundings of 1 would matter: not for `repeated` steps many
/// enough. Elsewhere losses are moved to the nearest points of a lattice, which a Fourier transform serves, and what they were moved by is
/// made up for by Taylor's series, whose terms are transforms of the moments of the moves (Spec §18.9). The work is about
/// losses + rows log(rows) instead of losses times rows.
[[nodiscard]] PhaseRows phase_rows(const std::vector<double>& weight,
                                   const std::vector<double>& loss, double period,
                                   std::size_t count, double repeated);

/// About how long that takes, in terms of phase_sum().
[[nodiscard]] double phase_rows_terms(double losses, double count, double repeated);

}  // namespace sfumato
