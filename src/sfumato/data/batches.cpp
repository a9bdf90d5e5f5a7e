#include "sfumato/data/batches.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "sfumato/core/error.hpp"
#include "sfumato/data/subset.hpp"
#include "sfumato/data/text.hpp"

namespace sfumato {
namespace {

std::vector<std::uint32_t> all_slots(std::size_t slots) {
  std::vector<std::uint32_t> numbers(slots);
  std::iota(numbers.begin(), numbers.end(), std::uint32_t{0});
  return numbers;
}

/// P(X <= k) for X ~ Binomial(n, q), 0 < q < 1, by the recurrence of its weights from the mode, whose
/// arithmetic is the same on every machine. Weights that vanish in double precision are left out.
std::vector<double> binomial_cumulative(std::size_t n, double q) {
  std::vector<double> weights(n + 1, 0.0);
  const auto size = static_cast<double>(n);
  const auto mode = std::min(n, static_cast<std::size_t>((size + 1.0) * q));
  const double odds = q / (1.0 - q);
  weights[mode] = 1.0;
  for (std::size_t k = mode; k < n && weights[k] > 0.0; ++k) {
    const auto x = static_cast<double>(k);
    weights[k + 1] = weights[k] * ((size - x) / (x + 1.0) * odds);
  }
  for (std::size_t k = mode; k > 0 && weights[k] > 0.0; --k) {
    const auto x = static_cast<double>(k);
    weights[k - 1] = weights[k] * (x / ((size - x + 1.0) * odds));
  }
  std::partial_sum(weights.begin(), weights.end(), weights.begin());
  const double total = weights.back();
  for (double& weight : weights) weight /= total;
  return weights;
}

}  // namespace

std::string_view name(BatchScheme scheme) {
  switch (scheme) {
    case BatchScheme::shuffled: return "shuffled";
    case BatchScheme::with_replacement: return "with_replacement";
    case BatchScheme::poisson: return "poisson";
  }
  throw InternalError("unknown batch scheme");
}

BatchSampler::BatchSampler(BatchScheme scheme, std::size_t slots, std::size_t batch_size,
                           std::uint64_t seed)
    : scheme_(scheme),
      slots_(slots),
      batch_size_(batch_size),
      stream_(StreamKey(seed, Purpose::batches, {static_cast<std::uint64_t>(scheme)})),
      size_stream_(StreamKey(seed, Purpose::batches, {static_cast<std::uint64_t>(scheme), 1})) {
  if (slots == 0 || slots > std::numeric_limits<std::uint32_t>::max()) {
    throw InvalidArgument(fmt::format("batches of {} slots cannot be drawn", slots),
                          "Give 1 to 2^32 - 1 records");
  }
  if (batch_size == 0) throw InvalidArgument("the batch size is 0", "Give 1 or more");
  if (scheme != BatchScheme::with_replacement && batch_size > slots) {
    throw InvalidArgument(
        fmt::format("the batch size {} is larger than the data, {} records", batch_size, slots),
        "Use smaller batches or more records");
  }
  if (scheme_ == BatchScheme::with_replacement) {
    drawn_.resize(batch_size_);
  } else if (batch_size_ == slots_) {
    drawn_ = all_slots(slots_);
  } else if (scheme_ == BatchScheme::poisson) {
    numbers_ = all_slots(slots_);
    size_cumulative_ =
        binomial_cumulative(slots_, static_cast<double>(batch_size_) / static_cast<double>(slots_));
  }
}

std::uint64_t BatchSampler::steps_per_epoch() const {
  return std::max<std::uint64_t>(1, slots_ / batch_size_);
}

std::span<const std::uint32_t> BatchSampler::batch(std::uint64_t step) {
  switch (scheme_) {
    case BatchScheme::shuffled: return shuffled_batch(step);
    case BatchScheme::with_replacement:
      for (std::size_t i = 0; i < batch_size_; ++i) {
        drawn_[i] = static_cast<std::uint32_t>(stream_.below(step, i, slots_));
      }
      return drawn_;
    case BatchScheme::poisson: return poisson_batch(step);
  }
  throw InternalError("unknown batch scheme");
}

std::span<const std::uint32_t> BatchSampler::shuffled_batch(std::uint64_t step) {
  if (batch_size_ == slots_) return drawn_;
  const std::uint64_t epoch = step / steps_per_epoch();
  if (epoch_ != epoch) {
    drawn_ = random_choice(slots_, slots_, stream_, epoch);
    epoch_ = epoch;
  }
  const auto begin = static_cast<std::size_t>(step % steps_per_epoch()) * batch_size_;
  return std::span<const std::uint32_t>(drawn_).subspan(begin, batch_size_);
}

std::span<const std::uint32_t> BatchSampler::poisson_batch(std::uint64_t step) {
  if (batch_size_ == slots_) return drawn_;
  double u = 0.0;
  size_stream_.fill_uniform(step, 0, std::span(&u, 1));
  const auto found = std::lower_bound(size_cumulative_.begin(), size_cumulative_.end(), u);
  const auto size = static_cast<std::size_t>(found - size_cumulative_.begin());
  exchanges_.clear();
  for (std::size_t i = 0; i < size; ++i) {
    exchanges_.push_back(i + stream_.below(step, i, slots_ - i));
    std::swap(numbers_[i], numbers_[exchanges_[i]]);
  }
  drawn_.assign(numbers_.begin(), numbers_.begin() + static_cast<std::ptrdiff_t>(size));
  for (std::size_t i = size; i-- > 0;) std::swap(numbers_[i], numbers_[exchanges_[i]]);
  return drawn_;
}

}  // namespace sfumato
