#include <exception>
#include <new>

#include "bindings.hpp"
#include "sfumato/core/error.hpp"

namespace sfumato::python {
namespace {

void translate(const std::exception_ptr& thrown, void*) {
  try {
    std::rethrow_exception(thrown);
  } catch (const InvalidArgument& error) {
    PyErr_SetString(PyExc_ValueError, error.what());
  } catch (const NumericalFailure& error) {
    PyErr_SetString(PyExc_ArithmeticError, error.what());
  } catch (const StorageError& error) {
    PyErr_SetString(PyExc_OSError, error.what());
  } catch (const Error& error) {
    PyErr_SetString(PyExc_RuntimeError, error.what());
  }
}

}  // namespace

void bind_errors(nb::module_&) { nb::register_exception_translator(translate, nullptr); }

}  // namespace sfumato::python
