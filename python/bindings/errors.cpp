#include <cctype>
#include <exception>
#include <new>
#include <string>

#include "bindings.hpp"
#include "sfumato/core/error.hpp"

namespace sfumato::python {
namespace {

/// Messages name options as the command line does; here they are keywords: --noise-multiplier is noise_multiplier.
std::string with_keywords(const std::string& message) {
  std::string text;
  for (std::size_t i = 0; i < message.size(); ++i) {
    const bool option = message.compare(i, 2, "--") == 0 && i + 2 < message.size() &&
                        std::islower(static_cast<unsigned char>(message[i + 2])) != 0 &&
                        (i == 0 || std::isalnum(static_cast<unsigned char>(message[i - 1])) == 0);
    if (!option) {
      text += message[i];
      continue;
    }
    for (i += 2; i < message.size(); ++i) {
      const auto c = static_cast<unsigned char>(message[i]);
      const bool hyphen = c == '-' && i + 1 < message.size() &&
                          std::isalnum(static_cast<unsigned char>(message[i + 1])) != 0;
      if (std::isalnum(c) == 0 && c != '_' && !hyphen) break;
      text += hyphen ? '_' : message[i];
    }
    --i;
  }
  return text;
}

void set_error(PyObject* kind, const std::string& message) {
  PyErr_SetString(kind, with_keywords(message).c_str());
}

void translate(const std::exception_ptr& thrown, void*) {
  try {
    std::rethrow_exception(thrown);
  } catch (const InvalidArgument& error) {
    set_error(PyExc_ValueError, error.what());
  } catch (const NumericalFailure& error) {
    set_error(PyExc_ArithmeticError, error.what());
  } catch (const StorageError& error) {
    set_error(PyExc_OSError, error.what());
  } catch (const Error& error) {
    set_error(PyExc_RuntimeError, error.what());
  }
}

}  // namespace

void bind_errors(nb::module_&) { nb::register_exception_translator(translate, nullptr); }

}  // namespace sfumato::python
