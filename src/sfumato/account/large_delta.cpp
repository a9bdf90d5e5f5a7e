#include "sfumato/account/large_delta.hpp"

#include <fmt/format.h>

#include "sfumato/report/number.hpp"

namespace sfumato {
namespace {

/// 1e-5 of 10000 records is a tenth, whatever the last digit of the product.
constexpr double kRounding = 1e-12;

}  // namespace

void require_small_delta(double delta, std::uint64_t records, bool allowed, const Where& where) {
  const double published = delta * static_cast<double>(records);
  if (allowed || !(published > 1.0 + kRounding)) return;
  throw InvalidArgument(
      fmt::format("delta = {} is above 1 / {} records: publishing records as they are, {} "
                  "of them on average, would meet it",
                  format_input(delta), records, format_number(published, Rounding::nearest, 2)),
      "Ask for a delta far below 1 / records, or give `allow_large_delta`", where);
}

std::string large_delta_warning(double delta, std::uint64_t records) {
  const double published = delta * static_cast<double>(records);
  if (!(published > 0.1 + kRounding)) return {};
  return fmt::format(
      "delta = {} is {} 1 / {} records: publishing each record as it is with that probability "
      "would "
      "meet it. A delta below 1 / (10 records) says more.",
      format_input(delta), published > 1.0 + kRounding ? "above" : "near", records);
}

}  // namespace sfumato
