#pragma once

#include <nanobind/nanobind.h>

/// What each file of this folder adds to the module sfumato._core.
namespace sfumato::python {

namespace nb = nanobind;

void bind_errors(nb::module_& module);
void bind_claimed(nb::module_& module);
void bind_accountant(nb::module_& module);
void bind_answers(nb::module_& module);
void bind_studies(nb::module_& module);
void bind_tables(nb::module_& module);
void bind_training(nb::module_& module);

}  // namespace sfumato::python
