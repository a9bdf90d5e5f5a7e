#pragma once

#include <string>
#include <vector>

#include "lab/nn/network.hpp"
#include "sfumato/report/figure.hpp"

namespace sfumato::lab {

/// A number for every parameter of a network, in its order.
struct ParameterField {
  std::string name;
  std::vector<double> values;
};

/// What the numbers are, for the figures' titles, axis and notes.
struct FieldMeaning {
  std::string key;       ///< of the figures: KEY_by_layer, KEY_by_pixel
  std::string title;     ///< "Where the noise goes"
  std::string quantity;  ///< "mean variance"
  std::string method = {};
  Claim claim = Claim::exact;
};

/// Where in the network the numbers are large, a series for each field: by layer, the mean over its weights
/// and over its biases; and, where each weight of the first layer reads one pixel of an image, by
/// pixel, the mean over the pixel's weights. The second is left out for other networks.
///
/// Throws   InternalError if a field has not one number per parameter.
[[nodiscard]] std::vector<Figure> parameter_figures(const Network& network,
                                                    const std::vector<ParameterField>& fields,
                                                    const FieldMeaning& meaning);

}  // namespace sfumato::lab
