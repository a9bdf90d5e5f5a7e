#include "sfumato/sde/problem/given_loss.hpp"

#include <mutex>
#include <utility>

#include "sfumato/core/overloaded.hpp"
#include "sfumato/math/precision.hpp"

namespace sfumato {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

/// sum += weight x x^T, the lower half, and moment += weight y x.
template <class T, class Row>
void add_row(TableSums::In<T>& sums, const Row& row, double target, double weight) {
  const Index p = row.size();
  for (Index j = 0; j < p; ++j) {
    if (row(j) == 0.0) continue;
    const T scaled = T(weight) * T(row(j));
    for (Index i = j; i < p; ++i) {
      if (row(i) != 0.0) sums.gram(i, j) += scaled * T(row(i));
    }
    sums.moment(j) += scaled * T(target);
  }
}

template <class T>
TableSums::In<T> sums_of(const MatrixXd& features, const VectorXd& target) {
  const Index p = features.cols();
  TableSums::In<T> sums{MatrixOf<T>::Zero(p, p), VectorOf<T>::Zero(p)};
  for (Index row = 0; row < features.rows(); ++row) {
    add_row(sums, features.row(row), target(row), 1.0);
  }
  return sums;
}

template <class T>
struct Once {
  std::once_flag flag;
  TableSums::In<T> sums;
};

}  // namespace

struct TableSums::Cache {
  Once<long double> extended;
  Once<Wide> wide;
  Once<Widest> widest;

  Once<long double>& of(const long double*) { return extended; }
  Once<Wide>& of(const Wide*) { return wide; }
  Once<Widest>& of(const Widest*) { return widest; }
};

TableSums::TableSums(MatrixXd features, VectorXd target)
    : features_(std::move(features)),
      target_(std::move(target)),
      cache_(std::make_unique<Cache>()) {}
TableSums::~TableSums() = default;

template <class T>
const TableSums::In<T>& TableSums::in() const {
  Once<T>& once = cache_->of(static_cast<const T*>(nullptr));
  std::call_once(once.flag, [&] { once.sums = sums_of<T>(features_, target_); });
  return once.sums;
}

GivenLoss with_pull(GivenLoss loss, const VectorXd& pull) {
  std::visit(Overloaded{[&](MatrixGiven& given) {
                          given.pull = pull;
                          given.point.reset();
                        },
                        [&](RowsGiven& given) {
                          given.pull = pull;
                          given.point.reset();
                        }},
             loss);
  return loss;
}

namespace {

template <class T>
LossIn<T> evaluate(const MatrixGiven& given) {
  LossIn<T> loss{given.curvature.cast<T>(), given.pull.cast<T>()};
  if (given.point) loss.pull = loss.curvature * given.point->cast<T>();
  return loss;
}

template <class T>
LossIn<T> evaluate(const RowsGiven& given) {
  TableSums::In<T> sums = given.table->in<T>();
  for (const RowDifference& row : given.differences) {
    add_row(sums, row.features, row.target, row.weight);
  }
  LossIn<T> loss{std::move(sums.gram), std::move(sums.moment)};
  if (given.divisor != 1.0) {
    loss.curvature /= T(given.divisor);
    loss.pull /= T(given.divisor);
  }
  const T ridge = T(given.ridge) * T(given.ridge_times);
  for (Index i = 0; i < loss.pull.size(); ++i) loss.curvature(i, i) += ridge;
  for (Index j = 0; j < loss.pull.size(); ++j) {
    for (Index i = 0; i < j; ++i) loss.curvature(i, j) = loss.curvature(j, i);
  }
  if (given.pull) loss.pull = given.pull->cast<T>();
  if (given.point) loss.pull = loss.curvature * given.point->cast<T>();
  return loss;
}

}  // namespace

template <class T>
LossIn<T> loss_in(const GivenLoss& given) {
  return std::visit([](const auto& kind) { return evaluate<T>(kind); }, given);
}

template const TableSums::In<long double>& TableSums::in<long double>() const;
template const TableSums::In<Wide>& TableSums::in<Wide>() const;
template const TableSums::In<Widest>& TableSums::in<Widest>() const;
template LossIn<long double> loss_in<long double>(const GivenLoss&);
template LossIn<Wide> loss_in<Wide>(const GivenLoss&);
template LossIn<Widest> loss_in<Widest>(const GivenLoss&);

}  // namespace sfumato
