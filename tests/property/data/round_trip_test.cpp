// What is written reads back bit for bit, over random shapes, values and names.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <random>

#include "sfumato/data/csv.hpp"
#include "sfumato/data/npy.hpp"
#include "sfumato/data/npz.hpp"
#include "support/csv_matrix.hpp"
#include "support/temp_dir.hpp"

namespace sfumato {
namespace {

constexpr std::uint64_t kCases = 1000;

class Generator {
 public:
  explicit Generator(std::uint64_t seed) : engine_(seed) {}

  std::uint64_t below(std::uint64_t end) { return engine_() % end; }

  /// Any bit pattern that is a finite double, or a friendly number.
  double finite() {
    if (below(3) == 0) return static_cast<double>(below(2000)) / 8.0 - 100.0;
    for (;;) {
      const double value = std::bit_cast<double>(engine_());
      if (std::isfinite(value)) return value;
    }
  }

  double any() { return std::bit_cast<double>(engine_()); }

  template <class Draw>
  Eigen::MatrixXd matrix(Eigen::Index largest, Draw&& draw) {
    const auto side = static_cast<std::uint64_t>(largest);
    Eigen::MatrixXd m(static_cast<Eigen::Index>(1 + below(side)),
                      static_cast<Eigen::Index>(1 + below(side)));
    for (double& x : m.reshaped()) x = draw();
    return m;
  }

  Array array() {
    const Eigen::MatrixXd m = matrix(8, [&] { return any(); });
    switch (below(3)) {
      case 0: return scalar_array(m(0, 0));
      case 1: return vector_array(m.col(0));
      default: return matrix_array(m);
    }
  }

  std::string name() {
    static const std::vector<std::string> kPieces = {"a", "B", "7",      ",", "\"", "\n", "\r\n",
                                                     ";", " ", "\u00e9", "-", "e",  ".",  "#"};
    std::string result;
    const std::uint64_t size = 1 + below(6);
    for (std::uint64_t i = 0; i < size; ++i) result += kPieces[below(kPieces.size())];
    return result;
  }

 private:
  std::mt19937_64 engine_;
};

bool same_bits(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b) {
  return a.rows() == b.rows() && a.cols() == b.cols() &&
         std::memcmp(a.data(), b.data(), static_cast<std::size_t>(a.size()) * sizeof(double)) == 0;
}

TEST(RoundTrip, Csv) {
  const TempDir dir;
  for (std::uint64_t seed = 0; seed < kCases; ++seed) {
    SCOPED_TRACE(seed);
    Generator generator(seed);
    const Eigen::MatrixXd values = generator.matrix(6, [&] { return generator.finite(); });
    std::vector<std::string> columns;
    for (Eigen::Index j = 0; j < values.cols(); ++j) {
      columns.push_back(generator.name() + "x" + std::to_string(j));
    }
    fixtures::write_csv_matrix(dir / "t.csv", columns, values);
    const DataTable table = read_csv(dir / "t.csv");
    ASSERT_TRUE(same_bits(table.values, values)) << get(dir / "t.csv");
    ASSERT_EQ(table.columns, columns);
    ASSERT_TRUE(same_bits(read_csv_matrix(dir / "t.csv").values, values));
  }
}

TEST(RoundTrip, CsvLayoutChangesNothing) {
  for (std::uint64_t seed = 0; seed < kCases; ++seed) {
    SCOPED_TRACE(seed);
    Generator generator(seed);
    const Eigen::MatrixXd values = generator.matrix(6, [&] { return generator.finite(); });
    const bool german = generator.below(2) == 0;
    const CsvOptions options = german ? CsvOptions{{';', ','}} : CsvOptions{{'\t', '.'}};
    const std::string line_end = generator.below(2) == 0 ? "\r\n" : "\n";
    std::string text = generator.below(2) == 0 ? "\xEF\xBB\xBF" : "";
    for (Eigen::Index i = 0; i < values.rows(); ++i) {
      for (Eigen::Index j = 0; j < values.cols(); ++j) {
        char number[40];
        std::snprintf(number, sizeof number, generator.below(2) == 0 ? "%.17g" : "%+.17e",
                      values(i, j));
        std::string field = number;
        if (german) std::replace(field.begin(), field.end(), '.', ',');
        // Quoted numbers in the first row would be names.
        const char around = i > 0 && generator.below(4) == 0 ? '"' : ' ';
        if (generator.below(2) == 0) {
          field.insert(field.begin(), around);
          field.push_back(around);
        }
        if (j > 0) text += options.format.separator;
        text += field;
      }
      const bool last = i + 1 == values.rows();
      if (!last || generator.below(2) == 0) text += line_end;
    }
    ASSERT_TRUE(same_bits(parse_csv_matrix(text, "t", options).values, values)) << text;
  }
}

TEST(RoundTrip, Npy) {
  for (std::uint64_t seed = 0; seed < 4 * kCases; ++seed) {
    Generator generator(seed);
    const Array array = generator.array();
    const Array back = parse_npy(npy_bytes(array), "a.npy");
    ASSERT_TRUE(same_bits(back.values, array.values) && back.rank == array.rank) << "seed " << seed;
  }
}

TEST(RoundTrip, Npz) {
  for (std::uint64_t seed = 0; seed < kCases; ++seed) {
    SCOPED_TRACE(seed);
    Generator generator(seed);
    Arrays arrays;
    for (std::uint64_t i = generator.below(5) + 1; i-- > 0;)
      arrays[generator.name()] = generator.array();
    NpzWriter writer;
    for (const auto& [name, array] : arrays) writer.add(name, array);
    const auto compression = generator.below(2) == 0 ? Compression::stored : Compression::deflated;
    const Arrays back = parse_npz(writer.bytes(compression), "a.npz");
    ASSERT_EQ(back.size(), arrays.size());
    for (const auto& [name, array] : arrays) {
      ASSERT_TRUE(same_bits(back.at(name).values, array.values));
      ASSERT_EQ(back.at(name).rank, array.rank);
    }
  }
}

/// One flipped bit of an archive is noticed or harmless (names and padding), never a wrong value.
TEST(RoundTrip, NpzDamageNeverChangesAValue) {
  for (std::uint64_t seed = 0; seed < kCases; ++seed) {
    SCOPED_TRACE(seed);
    Generator generator(seed);
    const Array array = generator.array();
    NpzWriter writer;
    writer.add("a", array);
    std::string bytes =
        writer.bytes(generator.below(2) == 0 ? Compression::stored : Compression::deflated);
    const std::uint64_t bit = generator.below(bytes.size() * 8);
    bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ (1 << (bit % 8)));
    try {
      const Arrays back = parse_npz(bytes, "a.npz");
      for (const auto& [name, value] : back) ASSERT_TRUE(same_bits(value.values, array.values));
    } catch (const InvalidArgument&) {
    }
  }
}

}  // namespace
}  // namespace sfumato
