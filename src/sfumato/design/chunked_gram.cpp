#include "sfumato/design/chunked_gram.hpp"

#include <algorithm>
#include <cstdint>

#include "sfumato/core/parallel.hpp"

namespace sfumato {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;

constexpr Index kColumns = 1024;  // 4 MB for 500 rows
constexpr Index kRows = 64;  // of a tile: large enough for a fast product, enough tiles to share

}  // namespace

MatrixXd chunked_gram(Index rows, Index columns, const FillColumns& fill, unsigned threads) {
  MatrixXd gram = MatrixXd::Zero(rows, rows);
  Observer quiet;
  const auto tiles = [&](const std::function<void(Index, Index)>& work) {
    parallel_blocks({"curvature", static_cast<std::uint64_t>(rows), kRows, threads}, quiet,
                    [&](std::uint64_t first, std::uint64_t last) {
                      work(static_cast<Index>(first), static_cast<Index>(last));
                    });
  };
  for (Index first = 0; first < columns; first += kColumns) {
    MatrixXd chunk(rows, std::min(kColumns, columns - first));
    tiles([&](Index a, Index b) { fill(first, a, b, chunk); });
    tiles([&](Index a, Index b) {
      gram.block(a, 0, b - a, b).noalias() +=
          chunk.middleRows(a, b - a) * chunk.topRows(b).transpose();
    });
  }
  gram.triangularView<Eigen::StrictlyUpper>() = gram.transpose();
  return gram;
}

}  // namespace sfumato
