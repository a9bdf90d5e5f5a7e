#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "sfumato/account/contour/allocation_ray.hpp"
#include "sfumato/account/contour/real_grid.hpp"
#include "sfumato/account/steps/step_direction.hpp"

namespace sfumato {

/// M(p) = E R^p of the likelihood ratio of an epoch of random allocation (Spec §28.4), by
///
///   M(p) = n! / Gamma(n - p)  int z^{-p-1} b_n(z) dz
///
/// over rays z = r e^{-i angle}, log r on a grid, with the errors of Spec §28.6; and from it the transform of the privacy loss, which is
/// M(1 + s) where P has the record and M(-s) where Q has it. What is computed for one s is kept for others.
class AllocationMoments {
 public:
  AllocationMoments(Allocation of, StepDirection direction);
  AllocationMoments(AllocationMoments&&) noexcept;
  AllocationMoments& operator=(AllocationMoments&&) noexcept;
  ~AllocationMoments();

  /// log M at a real s, its derivatives, and by how much M may be off, relative; +inf beyond the highest abscissa.
  [[nodiscard]] StepCumulant at(double s);
  [[nodiscard]] double highest_abscissa() const;

  /// M(s0 + i y) / M(s0) at y = 0, step, ..., and by how much it may be off in units of M(s0).
  struct Line {
    StepCumulant at;
    std::vector<Complex> ratio;
    std::vector<double> error;
  };
  [[nodiscard]] Line line(double s0, double step, std::size_t count);

 private:
  class RealRay;
  struct TurnedRay;
  struct Rays;
  [[nodiscard]] double power_at(double s) const;
  [[nodiscard]] RealRay& ray_for(double p);
  [[nodiscard]] Rays& rays_for(double p, double reach);
  [[nodiscard]] TurnedRay& turned_ray(Rays& rays, int turn, const Amplification& first,
                                      const Amplification& last) const;
  [[nodiscard]] Line normal_line(double p, double step, std::size_t count) const;
  [[nodiscard]] Line line_of_powers(double p, double step, std::size_t count);
  struct Density;  ///< of log r on the real ray at one power
  static void add_ray(double p, const Density& sum, double step, std::size_t next, std::size_t end,
                      const std::vector<Amplification>& log_a, TurnedRay& ray, Line* line);

  Allocation of_;
  bool is_removal_;
  std::map<std::pair<int, int>, std::unique_ptr<RealRay>> rays_;
  std::map<std::pair<int, int>, std::unique_ptr<Rays>> lines_;
};

}  // namespace sfumato
