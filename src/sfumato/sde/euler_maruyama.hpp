#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <vector>

#include "sfumato/random/stream.hpp"
#include "sfumato/sde/diffusion.hpp"
#include "sfumato/sde/gaussian_distribution.hpp"

namespace sfumato {

/// Which random numbers a simulation uses: runs of one seed are independent of each other.
struct RandomRun {
  std::uint64_t seed = 1;
  std::uint64_t run = 0;
};

/// Paths side by side, on their way.
struct PathBlock {
  std::uint64_t first_path = 0;
  Points x;                            ///< row j: path first_path + j
  Points drift;                        ///< b(t, x), by whoever advances the block
  Eigen::ArrayXXf normals;             ///< the standard normals of the next step
  std::vector<Eigen::Index> diverged;  ///< rows that stay where they were last finite, ascending
  Points next, noise;                  ///< scratch
};

/// The chain  X <- X + h b(t, X) + Sigma(t, X)^{1/2} sqrt(h) Z  (Spec §12.1), blocks of paths at a
/// time. Safe to use from several threads, one block each.
///
/// Random numbers. Of run r of seed s, start and step k of path j take normals i = 0, 1, ... from
///   start   Stream(s, Purpose::initialisation, {r}),  step i,  index j, in double precision
///   step k  Stream(s, Purpose::simulation, {r}),  step k n + i,  index j, in single precision
/// n being normals_per_step(): a path does not depend on how many others there are, nor on the
/// block it is in.
class EulerMaruyama {
 public:
  /// Throws   InvalidArgument if sizes differ, or start or a constant noise is no covariance.
  EulerMaruyama(const Diffusion& diffusion, const GaussianDistribution& start,
                const RandomRun& random);

  /// So many paths make the arrays of a block fit the nearest caches.
  [[nodiscard]] Eigen::Index block_size() const;
  [[nodiscard]] Eigen::Index dimension() const { return diffusion_.dimension; }
  /// Columns of Sigma^{1/2}: the dimension, or more for Factored noise.
  [[nodiscard]] Eigen::Index normals_per_step() const;

  /// Paths first_path .. first_path + count - 1 at time 0.
  void start(std::uint64_t first_path, Eigen::Index count, PathBlock& block) const;

  /// block.drift = b(time, block.x)
  void evaluate_drift(double time, PathBlock& block) const;
  /// block.normals = those of step `number`
  void draw(std::uint64_t number, PathBlock& block) const;

  /// One step: x + step * drift + scale * Sigma(time, x)^{1/2} normals, scale = sqrt(step) unless
  /// the normals have another variance than one. A row that comes out non-finite or beyond
  /// kDivergedBeyond keeps its value from now on and is listed in block.diverged.
  ///
  /// Throws   NumericalFailure if Sigma(time, x) has a negative variance or eigenvalue.
  void advance(double time, double step, double scale, PathBlock& block) const;

 private:
  void fill_noise(double time, PathBlock& block) const;
  void keep_diverged(PathBlock& block, bool look_for_more) const;

  Diffusion diffusion_;
  Eigen::VectorXd start_mean_;
  Eigen::MatrixXd start_root_;
  Stream start_stream_;
  Stream step_stream_;
  Eigen::VectorXd deviations_;  ///< of constant isotropic or diagonal noise, else empty
  Eigen::MatrixXd root_;        ///< of other constant noise, else empty
};

}  // namespace sfumato
