#include "sfumato/audit/rmia.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "sfumato/core/check.hpp"

namespace sfumato {

using Eigen::Index;
using Eigen::MatrixXd;

MatrixXd rmia_scores(const ShadowScores& shadows, const RmiaOptions& options) {
  require_shadows(shadows);
  require_positive("gamma", options.gamma);
  require_probability("offline_a", options.offline_a);
  const MatrixXd confidence =
      shadows.logits.unaryExpr([](double logit) { return 1.0 / (1.0 + std::exp(-logit)); });
  const Index models = confidence.rows(), records = confidence.cols();
  Eigen::Matrix<double, 2, Eigen::Dynamic> sums = MatrixXd::Zero(2, records);
  Eigen::Matrix<double, 2, Eigen::Dynamic> counts = MatrixXd::Zero(2, records);
  for (Index r = 0; r < records; ++r) {
    for (Index m = 0; m < models; ++m) {
      sums(shadows.member(m, r) != 0, r) += confidence(m, r);
      counts(shadows.member(m, r) != 0, r) += 1.0;
    }
  }
  MatrixXd scores(models, records);
  std::vector<double> ratios(static_cast<std::size_t>(records)), population;
  for (Index m = 0; m < models; ++m) {
    population.clear();
    for (Index r = 0; r < records; ++r) {
      double mean[2] = {};
      for (const int world : {0, 1}) {
        const bool own = (shadows.member(m, r) != 0) == (world == 1);
        const double count = counts(world, r) - (own ? 1.0 : 0.0);
        if (count < 1.0 && (world == 0 || options.online)) {
          throw InvalidArgument(
              fmt::format("record {} has no reference model {} it besides the target", r + 1,
                          world == 1 ? "with" : "without"),
              "Add reference models, or use the offline attack");
        }
        mean[world] = (sums(world, r) - (own ? confidence(m, r) : 0.0)) / count;
      }
      const double a = options.offline_a;
      const double reference =
          options.online ? 0.5 * (mean[0] + mean[1]) : 0.5 * ((1.0 + a) * mean[0] + (1.0 - a));
      // 1e-300: a confidence that underflowed to nothing everywhere.
      const double ratio = confidence(m, r) / std::max(reference, 1e-300);
      ratios[static_cast<std::size_t>(r)] = ratio;
      if (shadows.member(m, r) == 0) population.push_back(ratio);
    }
    if (population.size() < 2) {
      throw InvalidArgument(
          fmt::format("model {} was trained on all records but {}", m + 1, population.size()),
          "The attack needs two records that it was not trained on");
    }
    std::sort(population.begin(), population.end());
    for (Index r = 0; r < records; ++r) {
      const double ratio = ratios[static_cast<std::size_t>(r)];
      auto beaten = std::upper_bound(population.begin(), population.end(), ratio / options.gamma) -
                    population.begin();
      auto others = std::ssize(population);
      if (shadows.member(m, r) == 0) {  // a record is not compared with itself
        --others;
        beaten -= options.gamma <= 1.0;
      }
      scores(m, r) = static_cast<double>(beaten) / static_cast<double>(others);
    }
  }
  return scores;
}

}  // namespace sfumato
