#include "sfumato/data/batches.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "sfumato/core/suggest.hpp"
#include "sfumato/data/subset.hpp"
#include "sfumato/data/text.hpp"

namespace sfumato {

std::string_view name(BatchScheme scheme) {
  switch (scheme) {
    case BatchScheme::shuffled: return "shuffled";
    case BatchScheme::with_replacement: return "with_replacement";
    case BatchScheme::poisson: return "poisson";
  }
  throw InternalError("unknown batch scheme");
}

BatchScheme parse_batch_scheme(std::string_view text, const Where& where) {
  for (const BatchScheme scheme :
       {BatchScheme::shuffled, BatchScheme::with_replacement, BatchScheme::poisson}) {
    if (text == name(scheme)) return scheme;
  }
  throw InvalidArgument(
      fmt::format("the batch scheme {} is unknown", shown(text)),
      suggestion(text, {"shuffled", "with_replacement", "poisson"}, "batch schemes"), where);
}

BatchSampler::BatchSampler(BatchScheme scheme, std::size_t slots, std::size_t batch_size,
                           std::uint64_t seed)
    : scheme_(scheme),
      slots_(slots),
      batch_size_(batch_size),
      stream_(StreamKey(seed, Purpose::batches, {static_cast<std::uint64_t>(scheme)})) {
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
  if (scheme_ == BatchScheme::shuffled && batch_size_ == slots_) {
    drawn_.resize(slots_);
    std::iota(drawn_.begin(), drawn_.end(), std::uint32_t{0});
  }
  if (scheme_ == BatchScheme::with_replacement) drawn_.resize(batch_size_);
  if (scheme_ == BatchScheme::poisson) uniforms_.resize(slots_);
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
    case BatchScheme::poisson: draw_poisson(step); return drawn_;
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

void BatchSampler::draw_poisson(std::uint64_t step) {
  const double rate = static_cast<double>(batch_size_) / static_cast<double>(slots_);
  stream_.fill_uniform(step, 0, uniforms_);
  drawn_.clear();
  for (std::size_t i = 0; i < slots_; ++i) {
    if (uniforms_[i] < rate) drawn_.push_back(static_cast<std::uint32_t>(i));
  }
}

}  // namespace sfumato
