#include "lab/nn/batches.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "sfumato/core/error.hpp"
#include "sfumato/data/text.hpp"
#include "sfumato/random/stream.hpp"

namespace sfumato::lab {
namespace {

constexpr std::size_t kBlockBytes = 16;

PhiloxBlock block_at(const StreamKey& key, std::uint64_t step, std::uint64_t number) {
  const auto low = [](std::uint64_t x) { return static_cast<std::uint32_t>(x); };
  return philox4x32_10({low(number), low(number >> 32), low(step), low(step >> 32)}, key.words());
}

}  // namespace

std::string_view name(BatchScheme scheme) {
  switch (scheme) {
    case BatchScheme::shuffled: return "shuffled";
    case BatchScheme::with_replacement: return "with_replacement";
    case BatchScheme::poisson: return "poisson";
    case BatchScheme::fixed_size: return "fixed_size";
    case BatchScheme::full: return "full";
    case BatchScheme::shuffled_all: return "shuffled_all";
  }
  throw InternalError("unknown batch scheme");
}

BatchSampler::BatchSampler(BatchScheme scheme, std::size_t slots, std::size_t batch_size,
                           std::uint64_t seed)
    : BatchSampler(scheme, slots, batch_size, seed, nullptr) {}

BatchSampler::BatchSampler(BatchScheme scheme, std::size_t slots, std::size_t batch_size,
                           std::shared_ptr<const ReleaseKey> key)
    : BatchSampler(scheme, slots, batch_size, 0, std::move(key)) {}

BatchSampler::BatchSampler(BatchScheme scheme, std::size_t slots, std::size_t batch_size,
                           std::uint64_t seed, std::shared_ptr<const ReleaseKey> key)
    : scheme_(scheme),
      slots_(slots),
      batch_size_(batch_size),
      stream_key_(seed, Purpose::batches, {static_cast<std::uint64_t>(scheme)}),
      stream_(stream_key_),
      key_(std::move(key)) {
  if (slots == 0 || slots > std::numeric_limits<std::uint32_t>::max()) {
    throw InvalidArgument(fmt::format("batches of {} slots cannot be drawn", slots),
                          "Give 1 to 2^32 - 1 records");
  }
  if (batch_size == 0) throw InvalidArgument("the batch size is 0", "Give 1 or more");
  if (scheme != BatchScheme::with_replacement && scheme != BatchScheme::shuffled_all &&
      batch_size > slots) {
    throw InvalidArgument(
        fmt::format("the batch size {} is larger than the data, {} records", batch_size, slots),
        "Use smaller batches or more records");
  }
  if (scheme == BatchScheme::full && batch_size != slots) {
    throw InvalidArgument(fmt::format("full batches of {} of {} records", batch_size, slots),
                          "Make the batch size the number of records, or leave it out");
  }
  numbers_.resize(slots_);
  std::iota(numbers_.begin(), numbers_.end(), std::uint32_t{0});
  if (scheme_ == BatchScheme::poisson) {
    bytes_.resize((slots_ + kBlockBytes - 1) / kBlockBytes * kBlockBytes);
  }
}

std::uint64_t steps_per_epoch(BatchScheme scheme, std::size_t slots, std::size_t batch_size) {
  if (scheme == BatchScheme::shuffled_all) return (slots + batch_size - 1) / batch_size;
  return std::max<std::uint64_t>(1, slots / batch_size);
}

std::size_t BatchSampler::nominal_size(std::uint64_t step) const {
  if (scheme_ != BatchScheme::shuffled_all) return batch_size_;
  const auto begin = static_cast<std::size_t>(step % steps_per_epoch()) * batch_size_;
  return std::min(batch_size_, slots_ - begin);
}

std::span<const std::uint32_t> BatchSampler::batch(std::uint64_t step) {
  if (scheme_ != BatchScheme::with_replacement && batch_size_ >= slots_) return numbers_;
  switch (scheme_) {
    case BatchScheme::shuffled:
    case BatchScheme::shuffled_all: return shuffled_batch(step);
    case BatchScheme::with_replacement: {
      std::optional<ReleaseBits> bits;
      if (key_) bits.emplace(*key_, 2 * step + 1);
      drawn_.resize(batch_size_);
      for (std::size_t i = 0; i < batch_size_; ++i) {
        drawn_[i] =
            static_cast<std::uint32_t>(bits ? static_cast<std::uint64_t>(bits->below(slots_))
                                            : stream_.below(step, i, slots_));
      }
      return drawn_;
    }
    case BatchScheme::poisson: return poisson_batch(step);
    case BatchScheme::fixed_size: choose(batch_size_, step); return drawn_;
    case BatchScheme::full: return numbers_;
  }
  throw InternalError("unknown batch scheme");
}

std::span<const std::uint32_t> BatchSampler::shuffled_batch(std::uint64_t step) {
  const std::uint64_t epoch = step / steps_per_epoch();
  if (epoch_ != epoch) {
    choose(slots_, epoch);
    epoch_ = epoch;
  }
  const auto begin = static_cast<std::size_t>(step % steps_per_epoch()) * batch_size_;
  return std::span<const std::uint32_t>(drawn_).subspan(begin, nominal_size(step));
}

/// As random_choice(), in a time that grows with `count` alone: what was exchanged is exchanged back.
void BatchSampler::choose(std::size_t count, std::uint64_t draw) {
  std::optional<ReleaseBits> bits;
  if (key_) bits.emplace(*key_, 2 * draw + 1);
  exchanges_.clear();
  for (std::size_t i = 0; i < count; ++i) {
    exchanges_.push_back(
        i + static_cast<std::size_t>(bits ? static_cast<std::uint64_t>(bits->below(slots_ - i))
                                          : stream_.below(draw, i, slots_ - i)));
    std::swap(numbers_[i], numbers_[exchanges_[i]]);
  }
  drawn_.assign(numbers_.begin(), numbers_.begin() + static_cast<std::ptrdiff_t>(count));
  for (std::size_t i = count; i-- > 0;) std::swap(numbers_[i], numbers_[exchanges_[i]]);
}

void BatchSampler::fill_bytes(std::uint64_t step, ReleaseBits* bits) {
  for (std::size_t at = 0; at < bytes_.size(); at += kBlockBytes) {
    PhiloxBlock block{};
    if (bits == nullptr) {
      block = block_at(stream_key_, step, at / kBlockBytes);
    } else {
      for (std::size_t i = 0; i < 4; i += 2) {
        const std::uint64_t word = bits->word();
        block[i] = static_cast<std::uint32_t>(word);
        block[i + 1] = static_cast<std::uint32_t>(word >> 32);
      }
    }
    for (std::size_t i = 0; i < kBlockBytes; ++i) {
      bytes_[at + i] = static_cast<std::uint8_t>(block[i / 4] >> (8 * (i % 4)));
    }
  }
}

std::span<const std::uint32_t> BatchSampler::poisson_batch(std::uint64_t step) {
  const auto threshold = static_cast<std::uint64_t>((Uint128{batch_size_} << 64) / slots_);
  const auto first = static_cast<std::uint8_t>(threshold >> 56);
  const std::uint64_t rest = threshold << 8 >> 8;
  std::optional<ReleaseBits> bits;
  if (key_) bits.emplace(*key_, 2 * step + 1);
  fill_bytes(step, bits ? &*bits : nullptr);
  const auto rest_drawn = [&](std::uint64_t slot) {
    if (bits) return bits->word() >> 8;
    const PhiloxBlock block = block_at(stream_key_, step, (std::uint64_t{1} << 63) + slot);
    return (std::uint64_t{block[1]} << 32 | block[0]) >> 8;
  };
  drawn_.clear();
  for (std::size_t slot = 0; slot < slots_; ++slot) {
    if (bytes_[slot] > first) continue;
    if (bytes_[slot] < first || rest_drawn(slot) < rest) {
      drawn_.push_back(static_cast<std::uint32_t>(slot));
    }
  }
  return drawn_;
}

}  // namespace sfumato::lab
