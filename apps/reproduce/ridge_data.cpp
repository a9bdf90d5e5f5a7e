#include "reproduce/ridge_data.hpp"

#include <fmt/format.h>

#include "sfumato/core/error.hpp"
#include "sfumato/sde/problem/ridge_change.hpp"

namespace sfumato::apps {
namespace {

constexpr std::uint8_t kShirt = 0, kTrousers = 1;
constexpr int kBlock = 7;  // pixels; 4 x 4 blocks

}  // namespace

RidgeData fashion_ridge(DataPart part, Eigen::Index rows, const DataPlaces& places) {
  const LabelledSet set = load_data_set("fashion-mnist", part, 0, places);
  const Eigen::Index width = set.shape.width, blocks = width / kBlock;
  RidgeData data{Eigen::MatrixXd::Zero(rows, blocks * blocks + 1), Eigen::VectorXd(rows)};
  Eigen::Index row = 0;
  for (std::size_t record = 0; record < set.count() && row < rows; ++record) {
    if (set.labels[record] != kShirt && set.labels[record] != kTrousers) continue;
    const std::span<const std::uint8_t> pixels = bytes_of(set, record);
    for (Eigen::Index y = 0; y < set.shape.height; ++y) {
      for (Eigen::Index x = 0; x < width; ++x) {
        data.features(row, y / kBlock * blocks + x / kBlock) +=
            pixels[static_cast<std::size_t>(y * width + x)] / (255.0 * kBlock * kBlock);
      }
    }
    data.features(row, blocks * blocks) = 1.0;
    data.targets(row) = set.labels[record] == kShirt ? 1.0 : -1.0;
    ++row;
  }
  if (row < rows) {
    throw InvalidArgument(
        fmt::format("has {} records of the two classes, {} are needed", row, rows),
        "Ask for fewer rows", Where::in("fashion-mnist"));
  }
  return data;
}

RidgeProblem ridge_problem(const RidgeData& data, double ridge) {
  return RidgeProblem(data.features, data.targets, {LossScale::mean, ridge});
}

Eigen::Index most_influential_row(const RidgeProblem& problem) {
  Eigen::Index best = 0;
  double largest = -1.0;
  for (Eigen::Index row = 0; row < problem.rows(); ++row) {
    const auto shift = minimiser_shift(problem, row, std::nullopt);
    if (!shift) continue;
    const double size = shift->dot(problem.loss().curvature * *shift);
    if (size > largest) {
      largest = size;
      best = row;
    }
  }
  return best;
}

}  // namespace sfumato::apps
