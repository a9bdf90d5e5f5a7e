#include <nanobind/stl/string.h>

#include <string>

#include "bindings.hpp"
#include "sfumato/version.hpp"

NB_MODULE(_core, module) {
  using namespace sfumato::python;
  module.doc() = "The library behind the package sfumato. Use the package; names here may change.";
  module.attr("__version__") = std::string(sfumato::kVersion);
  // What is alive when Python ends, globals and tracebacks, is no leak; tests/test_running.py looks for those.
  nanobind::set_leak_warnings(false);
  bind_errors(module);
  bind_claimed(module);
  bind_accountant(module);
  bind_answers(module);
  bind_studies(module);
  bind_tables(module);
  bind_training(module);
}
