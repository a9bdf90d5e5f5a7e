#include "sfumato/random/stream.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>

#include "sfumato/core/error.hpp"
#include "sfumato/random/box_muller.hpp"
#include "sfumato/random/float_normals.hpp"

namespace sfumato {
namespace {

__extension__ using Uint128 = unsigned __int128;

std::uint32_t low(std::uint64_t x) { return static_cast<std::uint32_t>(x); }
std::uint32_t high(std::uint64_t x) { return static_cast<std::uint32_t>(x >> 32); }
std::uint64_t join(std::uint32_t low_word, std::uint32_t high_word) {
  return std::uint64_t{high_word} << 32 | low_word;
}

double uniform_of(std::uint32_t low_word, std::uint32_t high_word) {
  const auto k = static_cast<double>(join(low_word, high_word) >> 11);
  return std::max(k, 0.5) * 0x1p-53;
}

std::array<double, 2> uniforms_of(const PhiloxBlock& w) {
  return {uniform_of(w[0], w[1]), uniform_of(w[2], w[3])};
}

std::array<double, 2> normals_of(const PhiloxBlock& w) {
  const auto [u, v] = uniforms_of(w);
  const auto [first, second] = box_muller(u, v);
  return {first, second};
}

void require_indices(std::uint64_t first_index, std::size_t count) {
  if (count != 0 && count - 1 > std::numeric_limits<std::uint64_t>::max() - first_index) {
    throw InvalidArgument(fmt::format("{} values from index {} pass 2^64", count, first_index),
                          "Use the next step of the stream", Where::here("Stream::fill"));
  }
}

/// Writes the values first_index, first_index + 1, ... of a sequence that comes in groups of N.
template <std::size_t N, class T, class GroupAt>
void fill(std::uint64_t first_index, std::span<T> values, GroupAt group_at) {
  require_indices(first_index, values.size());
  std::uint64_t number = first_index / N;
  std::size_t skip = first_index % N;
  for (std::size_t written = 0; written < values.size(); ++number) {
    const std::array<T, N> group = group_at(number);
    const std::size_t count = std::min(N - skip, values.size() - written);
    std::copy_n(group.data() + skip, count, values.data() + written);
    written += count;
    skip = 0;
  }
}

}  // namespace

StreamKey::StreamKey(std::uint64_t seed, Purpose purpose,
                     std::initializer_list<std::uint64_t> parts)
    : words_{low(seed), high(seed)} {
  const auto fold = [&](std::uint64_t part, std::uint32_t position) {
    const PhiloxBlock block = philox4x32_10(
        {low(part), high(part), position, static_cast<std::uint32_t>(purpose)}, words_);
    words_ = {block[0], block[1]};
  };
  std::uint32_t position = 0;
  for (const std::uint64_t part : parts) fold(part, position++);
  fold(parts.size(), std::numeric_limits<std::uint32_t>::max());
}

PhiloxBlock Stream::block(std::uint64_t step, std::uint64_t number) const {
  return philox4x32_10({low(number), high(number), low(step), high(step)}, key_);
}

void Stream::fill_uniform(std::uint64_t step, std::uint64_t first_index,
                          std::span<double> values) const {
  fill<2>(first_index, values, [&](std::uint64_t b) { return uniforms_of(block(step, b)); });
}

void Stream::fill_normal(std::uint64_t step, std::uint64_t first_index,
                         std::span<double> values) const {
  fill<2>(first_index, values, [&](std::uint64_t b) { return normals_of(block(step, b)); });
}

void Stream::fill_normal(std::uint64_t step, std::uint64_t first_index,
                         std::span<float> values) const {
  require_indices(first_index, values.size());
  std::array<float, 4> group{};
  std::size_t written = 0;
  const auto fill_part_of_block = [&](std::size_t skip, std::size_t count) {
    fill_float_normals(step, (first_index + written) / 4, key_, group.data(), 1);
    std::copy_n(group.data() + skip, count, values.data() + written);
    written += count;
  };
  const std::size_t skip = first_index % 4;
  if (skip != 0) fill_part_of_block(skip, std::min(4 - skip, values.size()));
  const std::size_t blocks = (values.size() - written) / 4;
  fill_float_normals(step, (first_index + written) / 4, key_, values.data() + written, blocks);
  written += 4 * blocks;
  if (written < values.size()) fill_part_of_block(0, values.size() - written);
}

std::uint64_t Stream::below(std::uint64_t step, std::uint64_t index, std::uint64_t n) const {
  if (n == 0) throw InvalidArgument("n = 0 leaves no integer below it", "Pass n >= 1");
  const std::uint64_t rejected_below = (0 - n) % n;  // 2^64 mod n
  for (PhiloxBlock w = block(step, index);; w = philox4x32_10(w, key_)) {
    for (const std::uint64_t x : {join(w[0], w[1]), join(w[2], w[3])}) {
      const Uint128 product = Uint128{x} * n;
      // [Lemire2019]: each quotient is hit equally often once these low halves are left out.
      if (static_cast<std::uint64_t>(product) >= rejected_below) {
        return static_cast<std::uint64_t>(product >> 64);
      }
    }
  }
}

}  // namespace sfumato
