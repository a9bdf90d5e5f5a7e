#pragma once

#include <Eigen/Core>
#include <cstddef>

#include "lab/images/data_sets.hpp"
#include "sfumato/sde/problem/ridge.hpp"

namespace sfumato::apps {

using namespace lab;

/// A small ridge problem from real records: T-shirts (+1) against trousers (-1) of Fashion-MNIST, each
/// image as the means of its 16 blocks of 7 x 7 pixels in [0, 1], and a column of ones.
struct RidgeData {
  Eigen::MatrixXd features;
  Eigen::VectorXd targets;
};

/// The first `rows` records of the two classes in the set's order.
/// Throws   InvalidArgument as load_data_set(), or if there are not so many.
[[nodiscard]] RidgeData fashion_ridge(DataPart part, Eigen::Index rows, const DataPlaces& places);

/// 1/(2N) sum (x^T w - y)^2 + ridge/2 |w|^2.
[[nodiscard]] RidgeProblem ridge_problem(const RidgeData& data, double ridge);

/// The row whose removal moves the minimiser most, in the metric of the curvature.
[[nodiscard]] Eigen::Index most_influential_row(const RidgeProblem& problem);

}  // namespace sfumato::apps
