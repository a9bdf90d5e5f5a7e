#pragma once

#include "sfumato/design/design_answer.hpp"
#include "sfumato/math/covariance.hpp"
#include "sfumato/report/document.hpp"

namespace sfumato {

/// The shape of a designed noise beside isotropic noise of the same error: its ellipse in the two directions that
/// get most noise, and its spectrum. Nothing for isotropic noise, one coordinate, or more than 400.
void add_shape_figures(Document& document, const DesignAnswer& answer, const Covariance& noise);

}  // namespace sfumato
