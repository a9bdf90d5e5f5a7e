#pragma once

#include <nanobind/nanobind.h>

#include <string>

#include "sfumato/problem/sde_problem.hpp"
#include "sfumato/sde/diffusion.hpp"

namespace sfumato::python {

/// A function of Python in place of a drift, of many points at once.
struct PythonField {
  nanobind::object function;  ///< (x) or (t, x), x an array of points x coordinates; None: none
  bool timed = false;         ///< takes t
  std::string name;           ///< for messages
};

/// What one side has as functions; what is None stays as it was read.
struct PythonSide {
  PythonField drift, variances, divergence;
};

/// Puts the functions in the place of what was read.
void replace_by(const PythonSide& side, Diffusion& diffusion, std::string& kind);

}  // namespace sfumato::python
