#pragma once

#include <Eigen/Core>
#include <string_view>

#include "sfumato/core/error.hpp"

namespace sfumato {

/// Checks that every entry of a vector or a matrix is finite.
///
/// Throws   InvalidArgument with the offending entry, counted from 1; `name` is what the message
///          calls the vector or matrix.
void require_finite_entries(std::string_view name, const Eigen::Ref<const Eigen::MatrixXd>& matrix,
                            const Where& where = Where::here());

/// Checks that a matrix is square, not empty, finite and symmetric (to 1e-9 of its largest entry,
/// which is what a file with ten printed digits can hold) and returns it symmetrised. Definiteness
/// is not asked for.
///
/// Throws   InvalidArgument as above.
[[nodiscard]] Eigen::MatrixXd require_symmetric(std::string_view name,
                                                const Eigen::MatrixXd& matrix,
                                                const Where& where = Where::here());

}  // namespace sfumato
