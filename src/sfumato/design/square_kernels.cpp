#include "sfumato/design/square_kernels.hpp"

#include "sfumato/core/vector_clones.hpp"

namespace sfumato {

SFUMATO_VECTOR_CLONES
void add_weighted_squares(const double* row, double weight, double* sums, Eigen::Index count) {
  for (Eigen::Index i = 0; i < count; ++i) sums[i] += weight * (row[i] * row[i]);
}

SFUMATO_VECTOR_CLONES
double sum_of_weighted_squares(const double* row, const double* weights, Eigen::Index count) {
  Four sums[4] = {};
  Eigen::Index i = 0;
  for (; i + 16 <= count; i += 16) {
    for (Eigen::Index lane = 0; lane < 4; ++lane) {
      Four x, w;
      SFUMATO_LOAD(x, row + i + 4 * lane);
      SFUMATO_LOAD(w, weights + i + 4 * lane);
      sums[lane] += w * (x * x);
    }
  }
  const Four four = (sums[0] + sums[1]) + (sums[2] + sums[3]);
  double total = (four[0] + four[1]) + (four[2] + four[3]);
  for (; i < count; ++i) total += weights[i] * (row[i] * row[i]);
  return total;
}

}  // namespace sfumato
