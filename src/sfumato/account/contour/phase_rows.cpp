#include "sfumato/account/contour/phase_rows.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <numbers>

#include "sfumato/account/contour/compensated_sum.hpp"
#include "sfumato/account/contour/phase_sum.hpp"
#include "sfumato/account/contour/rounding_unit.hpp"
#include "sfumato/account/lattice/fourier.hpp"
#include "sfumato/core/infinity.hpp"

namespace sfumato {
namespace {

constexpr double kLittle = 3e5;        // terms: row by row
constexpr double kMostRepeated = 3e4;  // steps that multiply the error of a transform, about 1e-13
constexpr double kRemainder = 1e-17;   // of Taylor's series

/// The length of the lattice: moves turn by pi/4 at most.
std::size_t length_for(std::size_t count) {
  return std::bit_ceil(4 * std::max<std::size_t>(count, 16));
}

/// Terms of Taylor's series, an even number, for moves that turn by `most`.
int orders_for(double most) {
  int orders = 2;
  for (double term = most * most / 2.0; term > kRemainder; orders += 2) {
    term *= most * most / ((orders + 1.0) * (orders + 2.0));
  }
  return orders;
}

double transforms_terms(double losses, double count) {
  if (!(count < 0x1p40)) return kInf;  // more than any work allows, and than lengths can count
  const auto length = static_cast<double>(length_for(static_cast<std::size_t>(count)));
  const double pairs = 0.5 * orders_for(std::numbers::pi * count / length);
  return pairs * (0.8 * length * std::log2(length) + 6.0 * losses);
}

bool is_direct(double losses, double count, double repeated) {
  const double direct = losses * count;
  return direct <= kLittle || repeated > kMostRepeated || direct < transforms_terms(losses, count);
}

/// Losses on a lattice: the nearest point of each, and how far it turns from there until the last row.
struct Moved {
  std::vector<std::uint32_t> point;
  std::vector<double> turn;
};

Moved moved(const std::vector<double>& loss, double period, std::size_t length, std::size_t count) {
  Moved result;
  result.point.reserve(loss.size());
  result.turn.reserve(loss.size());
  const auto n = static_cast<double>(length);
  const double per_loss = n / period;
  const double per_move = 2.0 * std::numbers::pi * static_cast<double>(count) / n;
  for (const double l : loss) {
    const double place = l * per_loss, nearest = std::nearbyint(place);
    const double wrapped = nearest - n * std::floor(nearest / n);
    result.point.push_back(static_cast<std::uint32_t>(wrapped) &
                           static_cast<std::uint32_t>(length - 1));
    result.turn.push_back(per_move * (place - nearest));
  }
  return result;
}

/// Adds to the points of a lattice. Losses are in order, so that those of one point come one after the other: their sums have the digits
/// of one.
class PointSums {
 public:
  explicit PointSums(std::vector<Complex>* values) : values_(values) {}
  void add(std::uint32_t point, double re, double im) {
    if (point != point_) flush(point);
    re_.add(re);
    im_.add(im);
  }
  void flush(std::uint32_t next) {
    (*values_)[point_] += Complex(re_.value(), im_.value());
    re_ = {};
    im_ = {};
    point_ = next;
  }

 private:
  std::vector<Complex>* values_;
  std::uint32_t point_ = 0;
  CompensatedSum re_, im_;
};

/// The most often that a point is left, and so added to.
double visits(const std::vector<std::uint32_t>& point, std::size_t length) {
  std::vector<std::uint32_t> count(length);
  std::uint32_t most = 1;
  for (std::size_t j = 0; j < point.size(); ++j) {
    if (j == 0 || point[j] != point[j - 1]) most = std::max(most, ++count[point[j]]);
  }
  return static_cast<double>(most);
}

PhaseRows by_transforms(const std::vector<double>& weight, const std::vector<double>& loss,
                        double period, std::size_t count) {
  const std::size_t length = length_for(count);
  const Fourier fourier(length);
  // A loss is a lattice point and a rest, e^{iyL} a turn of the lattice times Taylor's series in the rest: a fast transform for each two orders
  // instead of a sum over all losses for each row.
  const Moved at = moved(loss, period, length, count);
  const int orders =
      orders_for(std::numbers::pi * static_cast<double>(count) / static_cast<double>(length));
  PhaseRows rows{std::vector<Complex>(count), 0.0, 0.0};
  std::vector<double> term = weight;  // A turn^p / p!
  std::vector<Complex> values(length);
  std::vector<double> power(count, 1.0);  // of n / count
  CompensatedSum size;                    // of all that is transformed
  for (int p = 0; p < orders; p += 2) {
    std::fill(values.begin(), values.end(), Complex());
    PointSums sums(&values);
    for (std::size_t j = 0; j < term.size(); ++j) {
      const double even = term[j], odd = even * at.turn[j] / (p + 1.0);
      sums.add(at.point[j], even, odd);
      term[j] = odd * at.turn[j] / (p + 2.0);
    }
    sums.flush(0);
    if (p == 0) values[0].real(0.0);  // it is the same in all rows, and 1 is subtracted from it
    for (const Complex& value : values) size.add(std::fabs(value.real()) + std::fabs(value.imag()));
    fourier.transform(values);
    const double sign = p % 4 == 0 ? 1.0 : -1.0;
    double rest = 0.0;
    for (std::size_t n = 0; n < count; ++n) {
      const double share = static_cast<double>(n) / static_cast<double>(count);
      const Complex here = values[n], mirrored = std::conj(values[n == 0 ? 0 : length - n]);
      const Complex even = 0.5 * (here + mirrored);
      const Complex odd = 0.5 * (here - mirrored);  // i times the transform of the odd moments
      if (p == 0 && n == 0) rest = even.real();
      rows.change[n] += sign * power[n] * ((even - rest) + share * odd);
      power[n] *= share * share;
    }
  }
  CompensatedSum beyond, slope;
  for (std::size_t j = 0; j < term.size(); ++j) {
    beyond.add(std::fabs(term[j]));
    slope.add(weight[j] * std::fabs(loss[j]));
  }
  // The transforms; moments have at most 4 roundings per order, a point one more for every visit; twice for what is subtracted.
  const double roundings = 4.0 * orders + visits(at.point, length) + 16.0;
  rows.error =
      2.0 * size.value() * (fourier.sup_error() + roundings * kUnit) + 1.01 * beyond.value();
  rows.slope = 8.0 * kUnit * slope.value();
  return rows;
}

}  // namespace

double phase_rows_terms(double losses, double count, double repeated) {
  return is_direct(losses, count, repeated) ? losses * count : transforms_terms(losses, count);
}

PhaseRows phase_rows(const std::vector<double>& weight, const std::vector<double>& loss,
                     double period, std::size_t count, double repeated) {
  if (!is_direct(static_cast<double>(loss.size()), static_cast<double>(count), repeated)) {
    return by_transforms(weight, loss, period, count);
  }
  PhaseRows rows;
  rows.change.reserve(count);
  const double step = 2.0 * std::numbers::pi / period;
  for (std::size_t n = 0; n < count; ++n) {
    const PhaseSum sum =
        phase_sum(weight.data(), loss.data(), loss.size(), static_cast<double>(n) * step);
    rows.change.emplace_back(sum.re, sum.im);
  }
  return rows;
}

}  // namespace sfumato
