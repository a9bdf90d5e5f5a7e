#include "sfumato/sde/drift_formulas.hpp"

#include <algorithm>

#include "sfumato/core/check.hpp"
#include "sfumato/core/infinity.hpp"
#include "sfumato/math/formula_range.hpp"
#include "sfumato/math/interval_arithmetic.hpp"

namespace sfumato {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

std::vector<double> values_of(double time, const VectorXd& x) {
  std::vector<double> values(x.data(), x.data() + x.size());
  values.push_back(time);
  return values;
}

/// A point at time 0.
std::vector<Interval> only(const VectorXd& x) {
  std::vector<Interval> box;
  for (const double value : x) box.push_back(just(value));
  box.push_back(just(0.0));
  return box;
}

/// |L v| for any v in a box.
double longest(const MatrixXd& l, const std::vector<Interval>& v) {
  Interval sum = just(0.0);
  for (Index i = 0; i < l.rows(); ++i) {
    Interval entry = just(0.0);
    for (Index j = 0; j < l.cols(); ++j)
      entry = entry + just(l(i, j)) * v[static_cast<std::size_t>(j)];
    sum = sum + power(entry, 2);
  }
  return sqrt(sum).upper;
}

/// All points and all times.
std::vector<Interval> everywhere(Index dimension) {
  std::vector<Interval> box(static_cast<std::size_t>(dimension), all_numbers());
  box.push_back({0.0, kInf});
  return box;
}

FormulaRange::Sum shifted(FormulaRange& algebra, const VectorXd& centre, Index i) {
  return FormulaRange::add(algebra.variable(static_cast<int>(i)), algebra.constant(just(centre(i))),
                           -1.0);
}

/// |x - centre|^2.
FormulaRange::Sum squared_distance(FormulaRange& algebra, const VectorXd& centre) {
  FormulaRange::Sum sum;
  for (Index i = 0; i < centre.size(); ++i) {
    const FormulaRange::Sum gap = shifted(algebra, centre, i);
    sum = FormulaRange::add(sum, FormulaRange::multiply(gap, gap));
  }
  return sum;
}

/// b_i - b'_i and their derivatives as sums in which what both share has cancelled.
class Gap {
 public:
  Gap(const DriftFormulas& p, const DriftFormulas& q) : Gap(p, q, everywhere(p.dimension())) {}
  Gap(const DriftFormulas& p, const DriftFormulas& q, std::vector<Interval> box)
      : box_(std::move(box)) {
    require_size("the second drift", q.dimension(), p.dimension());
    for (std::size_t i = 0; i < p.drift.size(); ++i)
      gap_.push_back(difference(p.drift[i], q.drift[i]));
    for (std::size_t i = 0; i < p.jacobian.size(); ++i) {
      slope_.push_back(difference(p.jacobian[i], q.jacobian[i]));
    }
  }

  [[nodiscard]] Index dimension() const { return static_cast<Index>(gap_.size()); }
  [[nodiscard]] Interval gap(std::size_t i) const { return algebra_.range(gap_[i], box_); }
  [[nodiscard]] Interval slope(Index i, Index j) const {
    return algebra_.range(slope_[static_cast<std::size_t>(i * dimension() + j)], box_);
  }

  /// |a|_N^2 - 2 tr(M N Da), as one formula.
  [[nodiscard]] Interval rate(const MatrixXd& metric, const MatrixXd* noise_gap,
                              const Paraboloid& less = {}) {
    FormulaRange::Sum sum;
    if (less.factor != 0.0) {
      sum = FormulaRange::multiply(algebra_.constant(just(-less.factor)),
                                   squared_distance(algebra_, less.centre));
    }
    for (Index i = 0; i < dimension(); ++i) {
      for (Index j = i; j < dimension(); ++j) {
        if (metric(i, j) == 0.0) continue;
        const auto product = FormulaRange::multiply(gap_[static_cast<std::size_t>(i)],
                                                    gap_[static_cast<std::size_t>(j)]);
        // Entries of a symmetric matrix, which may differ by rounding.
        const Interval factor =
            i == j ? just(metric(i, j)) : just(metric(i, j)) + just(metric(j, i));
        sum = FormulaRange::add(sum, FormulaRange::multiply(algebra_.constant(factor), product));
      }
    }
    if (noise_gap != nullptr) {
      const MatrixXd weight = *noise_gap * metric;  // tr(W Da) = sum_ij W_ij Da_ji
      const double rounding =
          1e-15 * static_cast<double>(dimension()) * noise_gap->norm() * metric.norm();
      for (Index i = 0; i < dimension(); ++i) {
        for (Index j = 0; j < dimension(); ++j) {
          const auto& da = slope_[static_cast<std::size_t>(j * dimension() + i)];
          if (da.empty()) continue;
          const Interval factor = {-2.0 * (weight(i, j) + rounding),
                                   -2.0 * (weight(i, j) - rounding)};
          sum = FormulaRange::add(sum, FormulaRange::multiply(algebra_.constant(factor), da));
        }
      }
    }
    return algebra_.range(sum, box_);
  }

 private:
  FormulaRange::Sum difference(const Expression& p, const Expression& q) {
    const FormulaRange::Sum first = algebra_.sum_of(p);
    return FormulaRange::add(first, algebra_.sum_of(q), -1.0);
  }

  FormulaRange algebra_;
  std::vector<Interval> box_;
  std::vector<FormulaRange::Sum> gap_;
  std::vector<FormulaRange::Sum> slope_;
};

}  // namespace

DriftFormulas::DriftFormulas(std::vector<Expression> formulas) : drift(std::move(formulas)) {
  for (const Expression& formula : drift) {
    for (std::size_t j = 0; j < drift.size(); ++j) jacobian.push_back(formula.derivative(j));
  }
}

VectorXd DriftFormulas::at(double time, const VectorXd& x) const {
  const std::vector<double> values = values_of(time, x);
  VectorXd result(dimension());
  for (Index i = 0; i < dimension(); ++i) result(i) = drift[static_cast<std::size_t>(i)].at(values);
  return result;
}

MatrixXd DriftFormulas::jacobian_at(double time, const VectorXd& x) const {
  const std::vector<double> values = values_of(time, x);
  MatrixXd result(dimension(), dimension());
  for (Index i = 0; i < dimension(); ++i) {
    for (Index j = 0; j < dimension(); ++j) result(i, j) = slope(i, j).at(values);
  }
  return result;
}

bool DriftFormulas::may_jump() const {
  return std::any_of(drift.begin(), drift.end(), [](const Expression& f) { return f.may_jump(); });
}

std::optional<JacobianBox> jacobian_box(const DriftFormulas& formulas) {
  const Index d = formulas.dimension();
  const std::vector<Interval> box = everywhere(d);
  JacobianBox result{MatrixXd(d, d), MatrixXd(d, d)};
  try {
    for (Index i = 0; i < d; ++i) {
      for (Index j = 0; j < d; ++j) {
        FormulaRange algebra;
        const Interval entry = algebra.range(algebra.sum_of(formulas.slope(i, j)), box);
        result.lower(i, j) = entry.lower;
        result.upper(i, j) = entry.upper;
      }
    }
  } catch (const NumericalFailure&) {
    return std::nullopt;
  }
  return result;
}

std::optional<GapRange> gap_range(const DriftFormulas& p, const DriftFormulas& q) {
  try {
    const Gap gap(p, q);
    const Index d = p.dimension();
    GapRange result{{}, {MatrixXd(d, d), MatrixXd(d, d)}};
    for (Index i = 0; i < d; ++i) {
      result.gap.push_back(gap.gap(static_cast<std::size_t>(i)));
      for (Index j = 0; j < d; ++j) {
        const Interval entry = gap.slope(i, j);
        result.slope.lower(i, j) = entry.lower;
        result.slope.upper(i, j) = entry.upper;
      }
    }
    return result;
  } catch (const NumericalFailure&) {
    return std::nullopt;
  }
}

Interval rate_range(const DriftFormulas& p, const DriftFormulas& q, const MatrixXd& metric,
                    const MatrixXd& noise_gap, const Paraboloid& less) {
  try {
    return Gap(p, q).rate(metric, &noise_gap, less);
  } catch (const NumericalFailure&) {
    return all_numbers();
  }
}

double size_at(const DriftFormulas& drift, const VectorXd& x) {
  try {
    FormulaRange algebra;
    std::vector<Interval> values;
    for (const Expression& formula : drift.drift)
      values.push_back(algebra.range(algebra.sum_of(formula), only(x)));
    return longest(MatrixXd::Identity(x.size(), x.size()), values);
  } catch (const NumericalFailure&) {
    return kInf;
  }
}

double gap_size_at(const DriftFormulas& p, const DriftFormulas& q, const VectorXd& x,
                   const MatrixXd& inverse_root) {
  try {
    const Gap gap(p, q, only(x));
    std::vector<Interval> values;
    for (std::size_t i = 0; i < p.drift.size(); ++i) values.push_back(gap.gap(i));
    return longest(inverse_root, values);
  } catch (const NumericalFailure&) {
    return kInf;
  }
}

double largest_growth(const DriftFormulas& drift, const VectorXd& centre, double rate) {
  try {
    FormulaRange algebra;
    FormulaRange::Sum sum =
        FormulaRange::multiply(algebra.constant(just(rate)), squared_distance(algebra, centre));
    for (Index i = 0; i < drift.dimension(); ++i) {
      const auto pull = FormulaRange::multiply(
          shifted(algebra, centre, i), algebra.sum_of(drift.drift[static_cast<std::size_t>(i)]));
      sum = FormulaRange::add(sum, FormulaRange::add(pull, pull));
    }
    return algebra.range(sum, everywhere(drift.dimension())).upper;
  } catch (const NumericalFailure&) {
    return kInf;
  }
}

Interval squared_gap_range(const DriftFormulas& p, const DriftFormulas& q, const MatrixXd& metric) {
  try {
    return Gap(p, q).rate(metric, nullptr);
  } catch (const NumericalFailure&) {
    return all_numbers();
  }
}

DriftFormulas restricted(const DriftFormulas& formulas, const std::vector<Index>& coordinates) {
  std::vector<int> numbers(formulas.drift.size() + 1, 0);
  for (std::size_t k = 0; k < coordinates.size(); ++k) {
    numbers[static_cast<std::size_t>(coordinates[k])] = static_cast<int>(k);
  }
  numbers.back() = static_cast<int>(coordinates.size());  // the time
  std::vector<Expression> kept;
  for (const Index i : coordinates) {
    kept.push_back(
        formulas.drift[static_cast<std::size_t>(i)].renumbered(numbers, coordinates.size() + 1));
  }
  return DriftFormulas(std::move(kept));
}

}  // namespace sfumato
