#include "sfumato/sde/family/formula.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <optional>
#include <utility>

#include "sfumato/core/check.hpp"
#include "sfumato/core/overloaded.hpp"
#include "sfumato/math/expression.hpp"
#include "sfumato/sde/contraction.hpp"
#include "sfumato/sde/drift_formulas.hpp"

namespace sfumato {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;
using Formulas = std::vector<Expression>;

/// Coordinates and time, in the order of the formulas' values.
std::vector<double> values_at(double time, const VectorXd& at) {
  std::vector<double> values(at.data(), at.data() + at.size());
  values.push_back(time);
  return values;
}

bool is_constant(const Expression& formula) {
  for (std::size_t i = 0; i < formula.variables(); ++i) {
    if (formula.depends_on(i)) return false;
  }
  return true;
}

double constant_value(const Expression& formula) {
  return formula.at(std::vector<double>(formula.variables(), 0.0));
}

/// out.col(i) = sign * formula i.
Field field_of(Formulas formulas, double sign) {
  return [formulas = std::move(formulas), sign](double time, const ConstPoints& at,
                                                MutablePoints out) {
    for (std::size_t i = 0; i < formulas.size(); ++i) {
      const auto column = static_cast<Index>(i);
      formulas[i].evaluate(at, std::array{time}, out.col(column));
      if (sign != 1.0) out.col(column) *= sign;
    }
  };
}

class Reader {
 public:
  Reader(const std::vector<std::string>& coordinates, const Where& where)
      : names_(coordinates), where_(where) {
    if (names_.empty()) {
      throw InvalidArgument("there are no coordinates", "Name at least one", where_);
    }
    if (std::find(names_.begin(), names_.end(), "t") != names_.end()) {
      throw InvalidArgument("a coordinate is named \"t\", which is the time", "Choose another name",
                            where_);
    }
    names_.emplace_back("t");
  }

  [[nodiscard]] std::size_t dimension() const { return names_.size() - 1; }

  [[nodiscard]] Expression formula(const std::string& text) const {
    return Expression::parse(text, names_, where_);
  }

  [[nodiscard]] Formulas formulas(const char* what, const std::vector<std::string>& texts) const {
    require_size(fmt::format("the list of formulas of {}", what),
                 static_cast<std::ptrdiff_t>(texts.size()),
                 static_cast<std::ptrdiff_t>(dimension()), where_);
    Formulas result;
    for (const std::string& text : texts) result.push_back(formula(text));
    return result;
  }

  [[nodiscard]] Noise noise(const NoiseFormulas& noise) const {
    return std::visit(Overloaded{[this](const Covariance& covariance) -> Noise {
                                   require_size("noise", sfumato::dimension(covariance),
                                                static_cast<Index>(dimension()), where_);
                                   return require_covariance("noise", covariance, where_);
                                 },
                                 [this](const std::vector<std::string>& diagonal) {
                                   return diagonal_noise(diagonal);
                                 },
                                 [this](const std::vector<std::vector<std::string>>& rows) {
                                   return matrix_noise(rows);
                                 }},
                      noise);
  }

 private:
  [[nodiscard]] Noise diagonal_noise(const std::vector<std::string>& texts) const {
    const Formulas variances = formulas("the noise", texts);
    bool constant = true;
    VectorXd values(static_cast<Index>(dimension()));
    Formulas divergence;
    for (std::size_t i = 0; i < dimension(); ++i) {
      constant = constant && is_constant(variances[i]);
      values(static_cast<Index>(i)) = constant_value(variances[i]);
      divergence.push_back(variances[i].derivative(i));
    }
    if (constant) return require_covariance("noise", Diagonal{values}, where_);
    return DiagonalNoise{field_of(variances, 1.0), field_of(std::move(divergence), 1.0)};
  }

  [[nodiscard]] Noise matrix_noise(const std::vector<std::vector<std::string>>& rows) const {
    require_size("the list of rows of the noise", static_cast<std::ptrdiff_t>(rows.size()),
                 static_cast<std::ptrdiff_t>(dimension()), where_);
    const auto d = static_cast<Index>(dimension());
    auto entries = std::make_shared<std::vector<Formulas>>();
    auto slopes = std::make_shared<std::vector<Formulas>>();  // d Sigma_ij / d x_j
    bool constant = true;
    for (const auto& row : rows) {
      entries->push_back(formulas("a row of the noise", row));
      slopes->emplace_back();
      for (std::size_t j = 0; j < dimension(); ++j) {
        constant = constant && is_constant(entries->back()[j]);
        slopes->back().push_back(entries->back()[j].derivative(j));
      }
    }
    const auto covariance = [d, entries](double time, const VectorXd& at) {
      const std::vector<double> values = values_at(time, at);
      MatrixXd matrix(d, d);
      for (Index i = 0; i < d; ++i) {
        for (Index j = 0; j < d; ++j) {
          matrix(i, j) =
              (*entries)[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)].at(values);
        }
      }
      return matrix;
    };
    if (constant) {
      return require_covariance("noise", Dense{covariance(0.0, VectorXd::Zero(d))}, where_);
    }
    require_symmetric_entries(covariance);
    return MatrixNoise{covariance, [d, slopes](double time, const VectorXd& at) {
                         const std::vector<double> values = values_at(time, at);
                         VectorXd divergence = VectorXd::Zero(d);
                         for (Index i = 0; i < d; ++i) {
                           for (const Expression& slope : (*slopes)[static_cast<std::size_t>(i)]) {
                             divergence(i) += slope.at(values);
                           }
                         }
                         return divergence;
                       }};
  }

  /// Formulas cannot be compared as such: their values are, at a few points without symmetry.
  template <class F>
  void require_symmetric_entries(const F& covariance) const {
    const auto d = static_cast<Index>(dimension());
    for (int k = 1; k <= 5; ++k) {
      VectorXd at(d);
      for (Index i = 0; i < d; ++i) {
        at(i) = std::sin(static_cast<double>(k) * (1.0 + 0.7 * static_cast<double>(i)));
      }
      const MatrixXd matrix = covariance(0.1 * k, at);
      for (Index i = 0; i < d; ++i) {
        for (Index j = 0; j < i; ++j) {
          const double gap = std::abs(matrix(i, j) - matrix(j, i));
          if (!(gap > 1e-9 * matrix.cwiseAbs().maxCoeff())) continue;
          throw InvalidArgument(
              fmt::format("the noise is not symmetric: entries ({}, {}) and ({}, {}) are {} and {} "
                          "where {} = {:.3g}",
                          i + 1, j + 1, j + 1, i + 1, matrix(i, j), matrix(j, i), names_[0], at(0)),
              "Give both entries the same formula", where_);
        }
      }
    }
  }

  std::vector<std::string> names_;
  Where where_;
};

/// sign * the Jacobian of the formulas, if it is constant.
std::optional<MatrixXd> constant_jacobian(const Formulas& formulas, double sign) {
  const auto d = static_cast<Index>(formulas.size());
  MatrixXd jacobian(d, d);
  for (Index i = 0; i < d; ++i) {
    for (Index j = 0; j < d; ++j) {
      const Expression slope =
          formulas[static_cast<std::size_t>(i)].derivative(static_cast<std::size_t>(j));
      if (!is_constant(slope)) return std::nullopt;
      jacobian(i, j) = sign * constant_value(slope);
    }
  }
  return jacobian;
}

/// `exact` are the same formulas with the sign in them, or none.
Diffusion diffusion_of(Formulas drift, double sign, Formulas exact, Noise noise) {
  Diffusion diffusion{static_cast<Index>(drift.size()), {}, std::move(noise)};
  if (!exact.empty()) {
    diffusion.formulas = std::make_shared<const DriftFormulas>(std::move(exact));
    diffusion.jacobian = jacobian_box(*diffusion.formulas);
  }
  if (const auto jacobian = constant_jacobian(drift, sign)) {
    diffusion.contraction = [curvature = MatrixXd(-*jacobian)](const Covariance& metric) {
      return linear_contraction(curvature, metric);
    };
  } else if (diffusion.jacobian) {
    diffusion.contraction = [box = *diffusion.jacobian](const Covariance& metric) {
      return box_contraction(box, metric);
    };
  }
  diffusion.drift = field_of(std::move(drift), sign);
  return diffusion;
}

}  // namespace

std::vector<std::string> coordinate_names(Index dimension) {
  if (dimension == 1) return {"x"};
  if (dimension == 2) return {"x", "y"};
  std::vector<std::string> names;
  for (Index i = 1; i <= dimension; ++i) names.push_back(fmt::format("x{}", i));
  return names;
}

Diffusion formula_diffusion(const std::vector<std::string>& coordinates,
                            const std::vector<std::string>& drift, const NoiseFormulas& noise,
                            const Where& where) {
  const Reader reader(coordinates, where);
  Formulas formulas = reader.formulas("the drift", drift);
  Formulas exact = formulas;
  return diffusion_of(std::move(formulas), 1.0, std::move(exact), reader.noise(noise));
}

Diffusion potential_diffusion(const std::vector<std::string>& coordinates,
                              const std::string& potential, const NoiseFormulas& noise,
                              const Where& where) {
  const Reader reader(coordinates, where);
  const Expression f = reader.formula(potential);
  Formulas gradient, exact;
  for (std::size_t i = 0; i < reader.dimension(); ++i) gradient.push_back(f.derivative(i));
  try {
    const Expression downhill = reader.formula("-(" + potential + ")");
    for (std::size_t i = 0; i < reader.dimension(); ++i) exact.push_back(downhill.derivative(i));
  } catch (const InvalidArgument&) {  // with its sign it is longer, or deeper, than formulas may be
  }
  return diffusion_of(std::move(gradient), -1.0, std::move(exact), reader.noise(noise));
}

}  // namespace sfumato
