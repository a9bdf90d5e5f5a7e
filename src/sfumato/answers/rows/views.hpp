#pragma once

#include <Eigen/Core>
#include <functional>
#include <string>
#include <vector>

#include "sfumato/privacy/row_risk.hpp"
#include "sfumato/report/number.hpp"
#include "sfumato/sde/problem/classification_fit.hpp"

namespace sfumato {

/// One number of a row, with its name for programs and people.
struct View {
  std::string key;
  std::string title;
  NumberStyle style;
  std::function<RiskNumber(const RowRisk&)> of;
};

/// The views in the order of the columns; mu where the model has one.
[[nodiscard]] std::vector<View> views(const RowRiskOptions& options, bool with_mu);

/// Those of which quantiles are shown: the worse direction of each.
[[nodiscard]] std::vector<View> worst_views(const RowRiskOptions& options);

/// Something about a row that explains its risk, exact.
struct Trait {
  std::string key;
  std::string title;
  std::string method;
  std::function<double(const RowRisk&)> of;
};

/// The leverage.
[[nodiscard]] std::vector<Trait> ridge_traits();

/// The norm of the features, which bounds the row's gradient, and the probability that the noiseless
/// fit gives to the row's own label.
[[nodiscard]] std::vector<Trait> logistic_traits(const ClassificationFit& fit);

}  // namespace sfumato
