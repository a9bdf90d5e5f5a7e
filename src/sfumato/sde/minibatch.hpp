#pragma once

#include <Eigen/Core>
#include <functional>

#include "sfumato/math/covariance.hpp"
#include "sfumato/sde/diffusion.hpp"
#include "sfumato/sde/problem/ridge.hpp"

namespace sfumato {

enum class BatchSampling { with_replacement, without_replacement };

/// How a minibatch gradient is drawn: n of N rows, and the estimator that goes with the objective.
///
///   sum    ghat = (N/n) sum_{m in batch} g_m      (unbiased for sum_l g_l)
///   mean   ghat = (1/n) sum_{m in batch} g_m      (unbiased for the mean)
struct MinibatchOptions {
  Eigen::Index batch;
  BatchSampling sampling = BatchSampling::without_replacement;
  LossScale loss = LossScale::sum;
};

/// a with  Cov(ghat) = a sum_l (g_l - gbar)(g_l - gbar)^T  for N = `rows` gradients (Spec §10); zero for
/// the whole table drawn without replacement.
///
/// Throws   InvalidArgument if there are no rows, the batch is not positive, or it is larger than N
///          without replacement.
[[nodiscard]] double minibatch_factor(Eigen::Index rows, const MinibatchOptions& options,
                                      const Where& where = Where::here());

/// Cov(ghat) of the minibatch gradient, exact (Spec §10), from the rows' gradients (row l is g_l):
///
///   (N^2/n) S_pop  or, without replacement,  (N^2/n) (N-n)/(N-1) S_pop;  mean: divided by N^2
///
/// with S_pop = (1/N) sum (g_l - gbar)(g_l - gbar)^T. A product of the centred gradients with
/// themselves, so it is positive semi-definite whatever the rounding. Factored when N - 1 < d, where
/// it is singular; Dense otherwise. Zero for the whole table drawn without replacement.
///
/// Throws   InvalidArgument if there are no rows, an entry is not finite, the batch is not positive,
///          or larger than N without replacement.
[[nodiscard]] Covariance minibatch_covariance(const Eigen::MatrixXd& row_gradients,
                                              const MinibatchOptions& options);

/// Of the step x <- x - learning_rate ghat:  learning_rate^2 Cov(ghat).
[[nodiscard]] Covariance minibatch_step_covariance(const Covariance& estimator,
                                                   double learning_rate);

/// Of the diffusion whose time step is the learning rate:  Sigma = learning_rate Cov(ghat).
[[nodiscard]] Covariance minibatch_diffusion_covariance(const Covariance& estimator,
                                                        double learning_rate);

/// The rows' losses f_l of a problem, as far as minibatch noise needs them: without ridge terms,
/// which are not sampled, and without the factor 1/N of a mean.
struct RowLosses {
  Eigen::Index rows;
  Eigen::Index dimension;
  /// Row l is grad f_l.
  std::function<Eigen::MatrixXd(const Eigen::VectorXd& at)> gradients;
  /// sum_l Hess f_l v_l, v_l being row l of `directions`.
  std::function<Eigen::VectorXd(const Eigen::VectorXd& at, const Eigen::MatrixXd& directions)>
      curvature_products;
  /// tr Hess f_l.
  std::function<Eigen::VectorXd(const Eigen::VectorXd& at)> curvature_traces;
};

/// The same with one more row, whose loss is 0: the empty place of a record that was removed.
[[nodiscard]] RowLosses with_empty_row(RowLosses losses);

/// Sigma(x) = learning_rate Cov(ghat)(x) + floor I with its exact divergence: with the centred
/// gradients v_l and the factor a of Sigma = a sum_l v_l v_l^T,
///
///   divergence = a sum_l (Hess f_l v_l + tr(Hess f_l) v_l)
///
/// in which the mean Hessian drops out because the v_l sum to zero.
///
/// Throws   InvalidArgument as minibatch_covariance, or if learning_rate is not positive or floor
///          negative.
[[nodiscard]] MatrixNoise minibatch_noise(RowLosses losses, const MinibatchOptions& options,
                                          double learning_rate, double floor = 0.0);

}  // namespace sfumato
