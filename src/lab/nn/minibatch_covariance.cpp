#include "lab/nn/minibatch_covariance.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

#include "sfumato/core/error.hpp"
#include "sfumato/math/symmetric_eigen.hpp"

namespace sfumato::lab {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

/// The centred gradients of all records, times sqrt(a): rows w_l with Cov(ghat) = sum_l w_l w_l^T.
/// In blocks of as many rows as fit; one block is kept, several are computed again for each pass.
class ScaledDeviations {
 public:
  ScaledDeviations(const Network& network, std::span<const double> parameters,
                   std::span<const LabelledRecord> records, double factor, std::size_t memory)
      : network_(network),
        parameters_(parameters),
        records_(records),
        root_(std::sqrt(factor)),
        block_(std::clamp(memory / (sizeof(double) * network.parameter_count()), std::size_t{1},
                          records.size())) {
    const BatchGradient mean = batch_gradient(network, parameters, records, LossScale::mean);
    mean_ = Eigen::Map<const Eigen::RowVectorXd>(mean.gradient.data(), dimension());
    if (!mean_.allFinite()) {
      throw NumericalFailure("a gradient is not finite", "Check the parameters and the records");
    }
    if (is_kept()) kept_ = rows(0, block_);
  }

  [[nodiscard]] Index dimension() const { return std::ssize(parameters_); }
  [[nodiscard]] Index count() const { return std::ssize(records_); }
  [[nodiscard]] bool is_kept() const { return block_ == records_.size(); }
  [[nodiscard]] const MatrixXd& kept() const { return kept_; }

  void each_block(const std::function<void(const MatrixXd&)>& f) const {
    if (is_kept()) return f(kept_);
    for (std::size_t first = 0; first < records_.size(); first += block_) {
      f(rows(first, std::min(block_, records_.size() - first)));
    }
  }

  [[nodiscard]] VectorXd covariance_times(const VectorXd& v) const {
    VectorXd sum = VectorXd::Zero(dimension());
    each_block([&](const MatrixXd& w) { sum.noalias() += w.transpose() * (w * v); });
    return sum;
  }

 private:
  [[nodiscard]] MatrixXd rows(std::size_t first, std::size_t count) const {
    MatrixXd result = record_gradients(network_, parameters_, records_.subspan(first, count));
    result.rowwise() -= mean_;
    result *= root_;
    return result;
  }

  const Network& network_;
  std::span<const double> parameters_;
  std::span<const LabelledRecord> records_;
  double root_;
  std::size_t block_;
  Eigen::RowVectorXd mean_;
  MatrixXd kept_;
};

/// Through the smaller of W W^T and W^T W, which have the same eigenvalues but for zeros.
EigenPairs dense_pairs(const ScaledDeviations& deviations, Index count) {
  const MatrixXd& w = deviations.kept();
  const bool by_records = w.rows() < w.cols();
  const Index size = std::min(w.rows(), w.cols());
  MatrixXd gram = MatrixXd::Zero(size, size);  // the lower half, which is what the solver reads
  if (by_records) {
    gram.selfadjointView<Eigen::Lower>().rankUpdate(w);
  } else {
    gram.selfadjointView<Eigen::Lower>().rankUpdate(w.transpose());
  }
  const SymmetricEigen solver(gram);
  if (!solver.converged()) throw InternalError("no spectrum of a Gram matrix");
  const Index kept = std::min(count, size);
  EigenPairs pairs;
  pairs.values = solver.eigenvalues().tail(kept).reverse();
  pairs.vectors = solver.eigenvectors().rightCols(kept).rowwise().reverse();
  if (by_records) pairs.vectors = (w.transpose() * pairs.vectors).eval();
  pairs.residuals = VectorXd(kept);
  for (Index k = 0; k < kept; ++k) {
    pairs.vectors.col(k).stableNormalize();
    const VectorXd v = pairs.vectors.col(k);
    pairs.residuals(k) = (deviations.covariance_times(v) - pairs.values(k) * v).norm();
  }
  pairs.products = kept;
  pairs.converged = true;
  return pairs;
}

/// Without the pairs whose eigenvalue is zero up to rounding.
EigenPairs without_zeros(EigenPairs pairs, Index size) {
  const double zero = 4.0 * static_cast<double>(size) * 2.2e-16 * std::max(0.0, pairs.values(0));
  const Index kept = (pairs.values.array() > zero).count();
  pairs.values.conservativeResize(kept);
  pairs.residuals.conservativeResize(kept);
  pairs.vectors.conservativeResize(Eigen::NoChange, kept);
  return pairs;
}

}  // namespace

MinibatchSpectrum minibatch_spectrum(const Network& network, std::span<const double> parameters,
                                     std::span<const LabelledRecord> records,
                                     const MinibatchOptions& batches,
                                     const MinibatchSpectrumOptions& options) {
  const double factor = minibatch_factor(std::ssize(records), batches);
  if (options.leading.count < 1) {
    throw InvalidArgument("no leading eigenpair is asked for", "Ask for at least one");
  }
  const ScaledDeviations deviations(network, parameters, records, factor, options.memory);

  MinibatchSpectrum result{VectorXd::Zero(deviations.dimension()), 0.0, {}};
  deviations.each_block(
      [&](const MatrixXd& w) { result.diagonal += w.colwise().squaredNorm().transpose(); });
  result.trace = result.diagonal.sum();

  const Index smaller = std::min(deviations.count(), deviations.dimension());
  const EigenPairs pairs =
      deviations.is_kept() && smaller <= options.dense_up_to
          ? dense_pairs(deviations, options.leading.count)
          : largest_eigenpairs(
                deviations.dimension(),
                [&](const VectorXd& v) { return deviations.covariance_times(v); }, options.leading);
  result.leading = without_zeros(pairs, std::max(deviations.count(), deviations.dimension()));
  return result;
}

}  // namespace sfumato::lab
