#include "lab/images/subset.hpp"

#include <fmt/format.h>

#include <limits>
#include <numeric>
#include <utility>

#include "sfumato/core/error.hpp"

namespace sfumato::lab {

std::vector<std::uint32_t> random_choice(std::size_t population, std::size_t count,
                                         const Stream& stream, std::uint64_t step) {
  if (population > std::numeric_limits<std::uint32_t>::max()) {
    throw InvalidArgument(fmt::format("{} records are more than 2^32 - 1", population),
                          "Use a part of them");
  }
  if (count > population) {
    throw InvalidArgument(fmt::format("{} of {} records cannot be chosen", count, population),
                          "Choose at most all of them");
  }
  std::vector<std::uint32_t> numbers(population);
  std::iota(numbers.begin(), numbers.end(), std::uint32_t{0});
  for (std::size_t i = 0; i < count; ++i) {
    std::swap(numbers[i], numbers[i + stream.below(step, i, population - i)]);
  }
  numbers.resize(count);
  return numbers;
}

}  // namespace sfumato::lab
