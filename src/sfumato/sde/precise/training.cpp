#include "sfumato/sde/precise/training.hpp"

#include <Eigen/Cholesky>
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <mutex>
#include <type_traits>
#include <utility>

#include "sfumato/core/infinity.hpp"
#include "sfumato/math/precision.hpp"
#include "sfumato/math/special.hpp"
#include "sfumato/math/symmetric_eigen.hpp"
#include "sfumato/sde/precise/functions.hpp"

namespace sfumato {
namespace {

using Eigen::Index;

constexpr double kNothing = 1e-60;       // relative entropies that differ by less are equal
constexpr double kDropped = 1e-12;       // of a decay: too little to be seen
constexpr double kSeenExtended = 1e-30;  // squares of differences, whose rounding is 1e-38
constexpr double kSeenWide = 1e-80;      // and 1e-100
constexpr double kTooFar = 1e30;         // no digit of a double is left for an epsilon
constexpr double kTolerance = 1e-8;  // leaves four digits of a delta of 1e-300, whose log is 700

/// How far the rounding of the entries of a matrix that was written down may move its eigenvalue along a
/// unit vector q: 4 d 2.2e-16 of |q|^T |A| |q|. Units do not matter: along an axis it is that of one entry.
template <class T>
T entry_rounding(const MatrixOf<T>& matrix, const VectorOf<T>& q) {
  const VectorOf<T> size = matrix.cwiseAbs() * q.cwiseAbs();
  const double share =
      4.0 * static_cast<double>(matrix.rows()) * std::numeric_limits<double>::epsilon();
  return T(share) * size.dot(q.cwiseAbs());
}

/// What is left of one unit of rounding of the largest eigenvalue counts as none.
template <class T>
T zero_share(Index dimension) {
  if constexpr (std::is_same_v<T, long double>) {
    return T(4.0 * static_cast<double>(dimension)) * std::numeric_limits<T>::epsilon();
  } else {
    using std::pow;
    return pow(std::numeric_limits<T>::epsilon(), T(0.85));  // 1e-42 and 1e-170
  }
}

/// What an eigenvalue that is 0 comes out as, at most, beside the largest.
template <class T>
T zero_noise() {
  return std::numeric_limits<T>::epsilon() * T(1e4);
}

template <class T>
struct Solved {
  VectorOf<T> rates;         ///< ascending
  MatrixOf<T> vectors;       ///< Q
  VectorOf<T> pull;          ///< Q^T pull
  VectorOf<T> force;         ///< Q^T (pull - A m_0)
  bool drops = false;        ///< an eigenvalue was taken to be 0 for want of digits,
  double dropped = 0.0;      ///< of this size at most
  bool nearly_flat = false;  ///< and it was larger than the rounding of a true 0
  bool converged = false;
};

/// Whether the rows of a table are not at right angles to q, a direction in which their sum of squares is lost
/// to rounding: |X q|^2 from the rows keeps twice the digits of q^T (X^T X) q. `least` is the smallest
/// eigenvalue that is not lost: an error e of the largest in A turns q by e / least towards its direction.
template <class T>
bool bends(const GivenLoss& loss, const VectorOf<T>& q, const T& largest, const T& least) {
  const auto* rows = std::get_if<RowsGiven>(&loss);
  if (rows == nullptr) return false;
  T sum = (rows->table->features().template cast<T>() * q).squaredNorm();
  for (const RowDifference& row : rows->differences) {
    const T product = row.features.cast<T>().dot(q);
    sum += T(row.weight) * product * product;
  }
  const T noise = std::numeric_limits<T>::epsilon() * T(1e6);
  return sum / T(rows->divisor) > noise * noise * largest * (largest / least);
}

template <class T>
Solved<T> solve_loss(const GivenTraining& given) {
  const LossIn<T> loss = loss_in<T>(given.loss);
  const SymmetricEigenOf<T> eigen(loss.curvature);
  Solved<T> solved;
  solved.converged = eigen.converged();
  if (!solved.converged) return solved;
  solved.rates = eigen.eigenvalues();
  solved.vectors = eigen.eigenvectors();
  const Index d = solved.rates.size();
  using std::abs;
  using std::max;
  const T largest = max(T(abs(solved.rates(0))), T(abs(solved.rates(d - 1))));
  if (std::holds_alternative<MatrixGiven>(given.loss)) {
    for (Index i = 0; i < d; ++i) {
      const VectorOf<T> q = solved.vectors.col(i);
      // Entries that were given in double carry a rounding of their own: an eigenvalue below it is none.
      if (abs(solved.rates(i)) <= entry_rounding<T>(loss.curvature, q)) solved.rates(i) = T(0);
    }
  }
  // The rest of T's digits: an eigenvalue below this share of the largest is rounding of the decomposition. If the loss
  // really bends that little, the direction is nearly flat, and more digits have to decide.
  const T zero = zero_share<T>(d) * largest;
  T least = largest;
  for (Index i = 0; i < d; ++i) {
    if (abs(solved.rates(i)) > zero && abs(solved.rates(i)) < least) least = abs(solved.rates(i));
  }
  for (Index i = 0; i < d; ++i) {
    if (solved.rates(i) == T(0) || abs(solved.rates(i)) > zero) continue;
    const T share = abs(solved.rates(i)) / largest;
    if (share > zero_noise<T>() || bends<T>(given.loss, solved.vectors.col(i), largest, least)) {
      solved.nearly_flat = true;
    }
    solved.rates(i) = T(0);
    solved.drops = true;
    solved.dropped = static_cast<double>(zero);
  }
  const VectorOf<T> start = given.start.mean.cast<T>();
  solved.pull = solved.vectors.transpose() * loss.pull;
  const VectorOf<T> force = loss.pull - loss.curvature * start;
  solved.force = solved.vectors.transpose() * force;
  return solved;
}

/// N(m_0 + displacement, root root^T) at some time.
template <class T>
struct DistributionIn {
  bool exists = false;
  bool definite = false;  ///< as far as the digits of T tell
  bool resolved = false;  ///< no eigenvalue was dropped that could matter until then
  VectorOf<T> displacement;
  MatrixOf<T> covariance;
  Eigen::LLT<MatrixOf<T>> root;
};

template <class T>
MatrixOf<T> rotated(const Covariance& covariance, const MatrixOf<T>& vectors) {
  if (const auto* isotropic = std::get_if<Isotropic>(&covariance)) {
    return MatrixOf<T>::Identity(vectors.cols(), vectors.cols()) * T(isotropic->variance);
  }
  if (const auto* factored = std::get_if<Factored>(&covariance)) {
    const MatrixOf<T> factor = vectors.transpose() * factored->factor.cast<T>();
    const MatrixOf<T> scaled = factored->diagonal.cast<T>().asDiagonal() * vectors;
    return vectors.transpose() * scaled + factor * factor.transpose();
  }
  const MatrixOf<T> half = dense(covariance).cast<T>() * vectors;
  return vectors.transpose() * half;
}

/// What a rate, or two of them, do up to time `when`: Spec §5 for the flow, §8 for the chain.
template <class T>
class Kernel {
 public:
  Kernel(double learning_rate, double when) : rate_(learning_rate), when_(when) {}

  /// Whether the distribution stays as time grows, along a direction with noise.
  [[nodiscard]] bool exists(const T& rate) const {
    if (when_ < kInf) return true;
    return rate > T(0) && (rate_ == 0.0 || T(rate_) * rate < T(2));
  }
  [[nodiscard]] T displacement(const T& force, const T& rate) const {
    if (when_ == kInf) return force / rate;
    if (rate_ == 0.0) return force * precise::phi1(rate, when_);
    return T(rate_) * force * precise::geometric_sum(T(T(rate_) * rate), when_);
  }
  [[nodiscard]] T noise(const T& a, const T& b) const {
    if (rate_ == 0.0) return when_ == kInf ? T(T(1) / (a + b)) : precise::phi1(T(a + b), when_);
    const T u = joint(a, b);
    return when_ == kInf ? T(T(1) / u) : precise::geometric_sum(u, when_);
  }
  [[nodiscard]] T start(const T& a, const T& b) const {
    if (when_ == kInf) return T(0);
    if (rate_ == 0.0) return precise::decay(T(a + b), when_);
    return precise::power_of_complement(T(T(rate_) * a), when_) *
           precise::power_of_complement(T(T(rate_) * b), when_);
  }

 private:
  /// 1 - (1 - eta a)(1 - eta b).
  [[nodiscard]] T joint(const T& a, const T& b) const {
    return T(rate_) * (a + b) - T(rate_) * a * T(rate_) * b;
  }
  double rate_;
  double when_;
};

template <class T>
DistributionIn<T> distribution_of(const GivenTraining& given, const Solved<T>& solved,
                                  double when) {
  DistributionIn<T> distribution;
  if (!solved.converged) return distribution;
  const Kernel<T> kernel(given.learning_rate, when);
  const Index d = solved.rates.size();
  for (Index i = 0; i < d; ++i) {
    if (!kernel.exists(solved.rates(i))) return distribution;
  }
  distribution.exists = true;
  const double unit = given.learning_rate == 0.0 ? 1.0 : given.learning_rate;
  distribution.resolved = !solved.drops || solved.dropped * unit * when < kDropped;
  VectorOf<T> moved(d);
  for (Index i = 0; i < d; ++i) moved(i) = kernel.displacement(solved.force(i), solved.rates(i));
  distribution.displacement = solved.vectors * moved;
  const bool spreads = trace(given.start.covariance) > 0.0 && when < kInf;
  // Isotropic noise and start stay diagonal in the eigenvectors of the curvature: d numbers instead of d^2.
  const bool together = std::holds_alternative<Isotropic>(given.noise) &&
                        (!spreads || std::holds_alternative<Isotropic>(given.start.covariance));
  const MatrixOf<T> noise = rotated<T>(given.noise, solved.vectors);
  const MatrixOf<T> start =
      spreads ? rotated<T>(given.start.covariance, solved.vectors) : MatrixOf<T>();
  MatrixOf<T> inner = MatrixOf<T>::Zero(d, d);
  for (Index j = 0; j < d; ++j) {
    for (Index i = j; i < (together ? j + 1 : d); ++i) {
      T value = noise(i, j) * kernel.noise(solved.rates(i), solved.rates(j));
      if (spreads) value += start(i, j) * kernel.start(solved.rates(i), solved.rates(j));
      inner(i, j) = inner(j, i) = value;
    }
  }
  MatrixOf<T> half(d, d);
  if (together) {
    for (Index j = 0; j < d; ++j) half.col(j) = solved.vectors.col(j) * inner(j, j);
  } else {
    half = solved.vectors * inner;
  }
  const MatrixOf<T> full = half * solved.vectors.transpose();
  // Two products round differently above and below the diagonal; a Cholesky factor reads one half.
  distribution.covariance = T(0.5) * (full + full.transpose());
  distribution.root.compute(distribution.covariance);
  distribution.definite = distribution.root.info() == Eigen::Success;
  return distribution;
}

/// The work of one training in one precision.
template <class T>
class WorkIn {
 public:
  [[nodiscard]] std::shared_ptr<const Solved<T>> solved(const GivenTraining& given) {
    const std::lock_guard lock(mutex_);
    return solve(given);
  }
  [[nodiscard]] std::shared_ptr<const DistributionIn<T>> distribution(const GivenTraining& given,
                                                                      double when) {
    const std::lock_guard lock(mutex_);
    if (!distribution_ || when_ != when) {
      distribution_ =
          std::make_shared<const DistributionIn<T>>(distribution_of(given, *solve(given), when));
      when_ = when;
    }
    return distribution_;
  }

 private:
  const std::shared_ptr<const Solved<T>>& solve(const GivenTraining& given) {
    if (!solved_) solved_ = std::make_shared<const Solved<T>>(solve_loss<T>(given));
    return solved_;
  }
  std::mutex mutex_;
  std::shared_ptr<const Solved<T>> solved_;
  std::shared_ptr<const DistributionIn<T>> distribution_;
  double when_ = 0.0;
};

}  // namespace

struct PreciseTraining::Work {
  GivenTraining given;
  WorkIn<long double> extended;
  WorkIn<Wide> wide;
  WorkIn<Widest> widest;

  explicit Work(GivenTraining training) : given(std::move(training)) {}
  WorkIn<long double>& in(const long double*) { return extended; }
  WorkIn<Wide>& in(const Wide*) { return wide; }
  WorkIn<Widest>& in(const Widest*) { return widest; }
};

namespace {

/// One rung: the comparison in T.
template <class T>
struct Rung {
  bool decided = false;   ///< the digits of T sufficed to say whether both distributions exist
  bool resolved = false;  ///< and no eigenvalue was dropped that could matter
  std::optional<WhitenedPair> pair;
};

template <class T>
Rung<T> compare_in(PreciseTraining::Work& p, PreciseTraining::Work& q, double when) {
  const T* tag = nullptr;
  const auto distribution_p = p.in(tag).distribution(p.given, when);
  const auto distribution_q = q.in(tag).distribution(q.given, when);
  Rung<T> rung;
  if (!distribution_p->exists || !distribution_q->exists) {
    rung.decided = std::is_same_v<T, Widest>;
    return rung;
  }
  if (!distribution_p->definite) return rung;
  rung.decided = true;
  rung.resolved = distribution_p->resolved && distribution_q->resolved;
  const auto lower = distribution_p->root.matrixL();
  const MatrixOf<T> change = distribution_q->covariance - distribution_p->covariance;
  const MatrixOf<T> half = lower.solve(change);
  const MatrixOf<T> full = lower.solve(MatrixOf<T>(half.transpose()));
  VectorOf<T> difference = distribution_q->displacement - distribution_p->displacement;
  if (p.given.start.mean != q.given.start.mean) {
    difference += q.given.start.mean.cast<T>() - p.given.start.mean.cast<T>();
  }
  const SymmetricEigenOf<T> eigen(T(0.5) * (full + full.transpose()));
  if (!eigen.converged()) return {};
  const VectorOf<T> shift = eigen.eigenvectors().transpose() * lower.solve(difference);
  const Index d = shift.size();
  WhitenedPair pair;
  pair.excess.resize(d);
  pair.ratio.resize(d);
  pair.shift.resize(d);
  for (Index i = 0; i < d; ++i) {
    const T ratio = T(1) + eigen.eigenvalues()(i);
    if (!(ratio > T(0))) return {};
    pair.excess(i) = static_cast<double>(eigen.eigenvalues()(i));
    pair.ratio(i) = static_cast<double>(ratio);
    pair.shift(i) = static_cast<double>(shift(i));
  }
  rung.pair = std::move(pair);
  return rung;
}

[[noreturn]] void throw_too_few(const char* problem) {
  throw NumericalFailure(problem, "Standardise the columns, or add ridge",
                         Where::here("comparison of two distributions"));
}

/// Three numbers that see every ratio and shift: both relative entropies and the variance of the
/// log ratio under Q.
std::array<double, 3> measures(const WhitenedPair& pair) {
  std::array<double, 3> sums{0.0, 0.0, 0.0};
  for (Index i = 0; i < pair.ratio.size(); ++i) {
    const double ratio = pair.ratio(i);
    const double excess = pair.excess(i);
    const double square = pair.shift(i) * pair.shift(i);
    sums[0] += psi(1.0 / ratio, -excess / ratio) + square / ratio;
    sums[1] += psi(ratio, excess) + square;
    sums[2] += 0.5 * excess * excess + ratio * square;
  }
  return sums;
}

/// Distributions that are equal as far as some digits tell may differ beyond them: agreement says something about
/// differences that are seen.
bool is_seen(const WhitenedPair& pair, double least) {
  for (const double size : measures(pair)) {
    if (!(size > least)) return false;
  }
  return true;
}

}  // namespace

double disagreement(const WhitenedPair& a, const WhitenedPair& b) {
  const auto left = measures(a);
  const auto right = measures(b);
  double worst = 0.0;
  for (std::size_t k = 0; k < left.size(); ++k) {
    if (!std::isfinite(left[k]) || !std::isfinite(right[k])) return kInf;
    const double gap = std::abs(left[k] - right[k]);
    if (gap > kNothing) worst = std::max(worst, gap / std::max(left[k], right[k]));
  }
  return worst;
}

PreciseTraining::PreciseTraining(GivenTraining training)
    : work_(std::make_shared<Work>(std::move(training))) {}

const GivenTraining& PreciseTraining::given() const { return work_->given; }

namespace {

/// Whether T has digits to spare for the smallest eigenvalue that is not 0: at least those of a double.
template <class T>
bool resolves(const Solved<T>& solved) {
  if (!solved.converged || solved.nearly_flat) return false;
  using std::abs;
  T largest = 0;
  for (Index i = 0; i < solved.rates.size(); ++i) {
    if (abs(solved.rates(i)) > largest) largest = abs(solved.rates(i));
  }
  const T least = largest * std::numeric_limits<T>::epsilon() * T(1e20);
  for (Index i = 0; i < solved.rates.size(); ++i) {
    if (solved.rates(i) != T(0) && abs(solved.rates(i)) < least) return false;
  }
  return true;
}

template <class T>
RoundedSpectrum rounded(const Solved<T>& solved) {
  return {solved.rates.template cast<double>(), solved.vectors.template cast<double>(),
          solved.pull.template cast<double>(), solved.force.template cast<double>()};
}

}  // namespace

template <class Use>
auto PreciseTraining::with_solved(Use&& use) const {
  const auto wide = work_->wide.solved(work_->given);
  if (resolves(*wide)) return use(*wide);
  const auto widest = work_->widest.solved(work_->given);
  if (!widest->converged) throw_too_few("the eigenvalues of the curvature do not converge");
  return use(*widest);
}

RoundedSpectrum PreciseTraining::spectrum() const {
  return with_solved([](const auto& solved) { return rounded(solved); });
}

double PreciseTraining::inverse_form(const Eigen::VectorXd& x) const {
  return with_solved([&x](const auto& solved) {
    using T = typename std::decay_t<decltype(solved.rates)>::Scalar;
    const VectorOf<T> z = solved.vectors.transpose() * x.cast<T>();
    T sum = 0;
    for (Index i = 0; i < z.size(); ++i) {
      if (solved.rates(i) > T(0)) sum += z(i) * z(i) / solved.rates(i);
    }
    return static_cast<double>(sum);
  });
}

std::optional<WhitenedPair> compare_precisely(const PreciseTraining& p, const PreciseTraining& q,
                                              double when,
                                              const std::optional<WhitenedPair>& rounded) {
  PreciseTraining::Work& left = *p.work_;
  PreciseTraining::Work& right = *q.work_;
  const Index d = left.given.start.mean.size();
  const Rung<long double> extended = compare_in<long double>(left, right, when);
  // The error of long double is that of double, which is the difference, over 2^11; times 16, since a
  // difference may be small by chance.
  if (rounded && extended.resolved && extended.pair && is_seen(*extended.pair, kSeenExtended) &&
      disagreement(*rounded, *extended.pair) < kTolerance * 2048 / 16) {
    return extended.pair;
  }
  if (d > kLargestWide) {
    throw_too_few("double precision leaves too few digits, and more would take too long here");
  }
  const Rung<Wide> wide = compare_in<Wide>(left, right, when);
  if (extended.pair && wide.resolved && wide.pair && is_seen(*wide.pair, kSeenWide) &&
      disagreement(*extended.pair, *wide.pair) < 0.01) {
    return wide.pair;
  }
  const Rung<Widest> widest = compare_in<Widest>(left, right, when);
  if (widest.decided && !widest.pair) return std::nullopt;
  if (wide.pair && widest.resolved && widest.pair &&
      disagreement(*wide.pair, *widest.pair) < kTolerance) {
    return widest.pair;
  }
  for (const double size : widest.pair ? measures(*widest.pair) : std::array<double, 3>{}) {
    if (size < kTooFar) continue;
    throw NumericalFailure(
        "the distributions are too far apart, or too unequal, for double precision",
        "Rescale the data, or use more noise or ridge",
        Where::here("comparison of two distributions"));
  }
  throw_too_few("two hundred digits are too few to compare the distributions");
}

namespace {

template <class T>
std::optional<Eigen::VectorXd> shift_in(PreciseTraining::Work& p, PreciseTraining::Work& q) {
  const T* tag = nullptr;
  const auto distribution_p = p.in(tag).distribution(p.given, kInf);
  const auto distribution_q = q.in(tag).distribution(q.given, kInf);
  if (!distribution_p->exists || !distribution_q->exists) return std::nullopt;
  const VectorOf<T> shift = distribution_q->displacement - distribution_p->displacement;
  return shift.template cast<double>();
}

}  // namespace

std::optional<Eigen::VectorXd> minimiser_shift_precisely(const PreciseTraining& p,
                                                         const PreciseTraining& q) {
  PreciseTraining::Work& left = *p.work_;
  PreciseTraining::Work& right = *q.work_;
  if (left.given.start.mean.size() > kLargestWide) {
    throw_too_few("double precision leaves too few digits, and more would take too long here");
  }
  const auto widest = shift_in<Widest>(left, right);
  if (!widest) return std::nullopt;
  const auto wide = shift_in<Wide>(left, right);
  if (wide) {
    // Entry by entry, since the noise may be small along any of them; what is nothing beside the
    // minimisers themselves need not agree.
    const Eigen::ArrayXd size =
        left.wide.distribution(left.given, kInf)->displacement.cwiseAbs().cast<double>();
    const Eigen::ArrayXd gap = (*wide - *widest).cwiseAbs();
    if ((gap <= kTolerance * widest->array().abs() + 1e-35 * size).all()) return widest;
  }
  throw_too_few("two hundred digits are too few for the minimisers");
}

}  // namespace sfumato
