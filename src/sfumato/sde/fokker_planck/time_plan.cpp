#include "sfumato/sde/fokker_planck/time_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sfumato/core/check.hpp"
#include "sfumato/sde/fokker_planck/operator.hpp"

namespace sfumato {

using Eigen::Index;

std::vector<TimePanel> time_plan(double begin, const std::vector<double>& times,
                                 const TimeGrading& grading) {
  if (!(begin + grading.first > begin)) {
    throw InvalidArgument("the first step in time vanishes: the start is too narrow for its noise",
                          "Give the start a larger variance", Where::here("Fokker-Planck"));
  }
  std::vector<TimePanel> panels;
  double now = begin;
  double length = grading.first;
  double panel_end = begin + length;
  for (const double stop : times) {
    while (now < stop) {
      // A sliver left before an output time or after it joins the panel.
      const double slack = 1e-9 * length;
      const double end = panel_end < stop - slack ? panel_end : stop;
      const double share =
          std::ceil(static_cast<double>(grading.steps) * (end - now) / length - 1e-6);
      panels.push_back({now, end, std::max<Index>(1, static_cast<Index>(share))});
      now = end;
      if (now >= panel_end - slack) {
        length = std::min(std::max(now - begin, grading.first), grading.longest);
        panel_end = now + length;
      }
    }
  }
  return panels;
}

double first_panel(const Diffusion& diffusion, const GaussianDistribution& start, double time) {
  const Index d = diffusion.dimension;
  const Eigen::ArrayXd sd = diagonal_of(start.covariance).array().sqrt();
  if (!(sd > 0.0).all()) {
    throw InvalidArgument("the start has no density (a variance is zero)",
                          "Give the start a positive variance in every direction",
                          Where::here("Fokker-Planck"));
  }
  Points points = start.mean.transpose().array().replicate(1 + 2 * d, 1);
  for (Index k = 0; k < d; ++k) {
    points(1 + 2 * k, k) += sd(k);
    points(2 + 2 * k, k) -= sd(k);
  }
  const PointCoefficients found = sample(diffusion, time, points);
  double rate = 0.0;
  for (Index k = 0; k < d; ++k) {
    const double slope =
        std::abs(found.drift(1 + 2 * k, k) - found.drift(2 + 2 * k, k)) / (2 * sd(k));
    rate = std::max(rate, found.variances(0, k) / (sd(k) * sd(k)) +
                              std::abs(found.drift(0, k)) / sd(k) + slope);
  }
  return 0.25 / rate;
}

}  // namespace sfumato
