#include "fuzz_main.hpp"
#include "sfumato/data/csv.hpp"

using namespace sfumato;

namespace {

void check(const DataTable& table) {
  if (!table.values.allFinite() || table.values.rows() == 0) __builtin_trap();
  if (static_cast<std::size_t>(table.values.rows()) != table.lines.size()) __builtin_trap();
}

}  // namespace

/// The first byte chooses the options, the rest is the file.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  CsvOptions options;
  if ((data[0] & 1u) != 0) options.format = {';', ','};
  if ((data[0] & 2u) != 0) options.missing = MissingPolicy::drop_row;
  const bool matrix = (data[0] & 4u) != 0;
  return fuzz(data + 1, size - 1, [&](std::string_view text) {
    check(matrix ? parse_csv_matrix(text, "f.csv", options) : parse_csv(text, "f.csv", options));
  });
}
