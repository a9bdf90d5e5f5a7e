#pragma once

#include <functional>
#include <string>

#include "sfumato/divergence/pair_bounds.hpp"
#include "sfumato/problem/side.hpp"

namespace sfumato {

/// Regression on a table and on its neighbour in one row.
struct ModelPair {
  SdePair pair;
  std::string kind;           ///< "logistic regression on 100 rows of cells.csv, 3 parameters"
  std::string way_of_change;  ///< "D' is D without row 3"
  std::string frozen;  ///< what noise that is taken at one point stands for; a sentence, or empty
  /// The same pair with another noise; empty where minibatches make the noise.
  std::function<SdePair(const Covariance& noise)> with_noise = {};
  double work;  ///< about how many operations one evaluation of a drift takes
};

/// Reads `model` (ridge, logistic or softmax), `data`, `target`, `features`, `intercept`, `standardise`,
/// `ridge`,
/// `loss`, `classes` and `Sigma` or `minibatch` of [d], and `without_row` and `with` of [d_prime].
///
/// Throws   InvalidArgument with file:line:column, and as read_regression and the problems do.
[[nodiscard]] ModelPair read_model_pair(const Side& d, const Side& d_prime);

}  // namespace sfumato
