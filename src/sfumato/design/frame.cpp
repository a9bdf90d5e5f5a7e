#include "sfumato/design/frame.hpp"

#include <Eigen/QR>
#include <utility>
#include <vector>

#include "sfumato/math/symmetric_eigen.hpp"

namespace sfumato {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

}  // namespace

Whitening::Whitening(const Covariance& weights) {
  if (is_diagonal(weights)) {
    roots_ = diagonal_of(weights).cwiseSqrt();
  } else {
    factor_.compute(dense(weights));
  }
}

MatrixXd Whitening::columns(const Eigen::Ref<const MatrixXd>& columns) const {
  if (roots_.size() > 0) return roots_.asDiagonal() * columns;
  return factor_.matrixU() * columns;
}

MatrixXd Whitening::back(const MatrixXd& columns) const {
  if (roots_.size() > 0) return roots_.cwiseInverse().asDiagonal() * columns;
  return factor_.matrixU().solve(columns);
}

Frame frame_of(MatrixXd columns) {
  const Index d = columns.rows();
  const Index count = columns.cols();
  if (count >= d) return {columns.transpose(), {}, d};
  const Eigen::HouseholderQR<Eigen::Ref<MatrixXd>> qr(columns);
  const MatrixXd upper = qr.matrixQR().topRows(count).triangularView<Eigen::Upper>();
  return {upper.transpose(), qr.householderQ() * MatrixXd::Identity(d, count), d};
}

Frame restricted_to_range(Frame frame) {
  const MatrixXd& c = frame.coordinates;
  const SymmetricEigen eigen(c.transpose() * c);
  const VectorXd& moments = eigen.eigenvalues();
  const Index r = moments.size();
  const Index dropped = (moments.array() < 1e-14 * moments(r - 1)).count();
  if (dropped == 0) return frame;
  const MatrixXd kept = eigen.eigenvectors().rightCols(r - dropped);
  const VectorXd outside = (c * eigen.eigenvectors().leftCols(dropped)).rowwise().norm();
  frame.outside = (outside.array() > 1e-10 * c.rowwise().norm().array()).any();
  frame.coordinates = MatrixXd(c * kept);
  frame.basis = frame.basis.size() > 0 ? MatrixXd(frame.basis * kept) : kept;
  return frame;
}

Covariance lifted(const SpectralNoise& noise, const Frame& frame, const Whitening& whitening,
                  DesignForm form) {
  const MatrixXd directions =
      frame.basis.size() > 0 ? MatrixXd(frame.basis * noise.directions) : noise.directions;
  if (form == DesignForm::low_rank) {
    std::vector<Index> more;  // directions with more noise than the rest
    for (Index i = 0; i < noise.variances.size(); ++i) {
      if (noise.variances(i) > noise.rest) more.push_back(i);
    }
    const VectorXd excess = VectorXd(noise.variances(more)).array() - noise.rest;
    const VectorXd ones = VectorXd::Ones(frame.dimension);
    const VectorXd inverse_roots = whitening.back(ones);
    return Factored{noise.rest * inverse_roots.cwiseAbs2(),
                    whitening.back(directions(Eigen::all, more) * excess.cwiseSqrt().asDiagonal())};
  }
  MatrixXd inner = directions * (noise.variances.array() - noise.rest).matrix().asDiagonal() *
                   directions.transpose();
  if (frame.rest() == 0) {
    inner = directions * noise.variances.asDiagonal() * directions.transpose();
  } else {
    inner.diagonal().array() += noise.rest;
  }
  const MatrixXd half = whitening.back(inner);
  const MatrixXd whole = whitening.back(half.transpose());
  return Dense{0.5 * (whole + whole.transpose())};
}

}  // namespace sfumato
