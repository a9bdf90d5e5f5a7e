#include "callables.hpp"

#include <fmt/format.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace sfumato::python {
namespace {

namespace nb = nanobind;

/// Python's state of a thread of the library, kept for its calls: making one anew takes longer than a short function.
class ThreadState {
 public:
  ThreadState() : state_(PyGILState_Ensure()), saved_(PyEval_SaveThread()) {}
  ThreadState(const ThreadState&) = delete;
  ThreadState& operator=(const ThreadState&) = delete;
  ~ThreadState() {  // when the thread ends, which is before the call that started it returns to Python
    PyEval_RestoreThread(saved_);
    PyGILState_Release(state_);
  }

 private:
  PyGILState_STATE state_;
  PyThreadState* saved_;
};

/// An array of NumPy and the memory behind it.
struct Argument {
  nb::object array;
  double* memory;
  Eigen::Index rows, columns;
};

Argument new_argument(Eigen::Index rows, Eigen::Index columns) {
  auto* memory = new double[static_cast<std::size_t>(rows * columns)];
  nb::capsule owner(memory, [](void* p) noexcept { delete[] static_cast<double*>(p); });
  const std::size_t shape[] = {static_cast<std::size_t>(rows), static_cast<std::size_t>(columns)};
  const std::int64_t strides[] = {1, rows};
  return {nb::cast(nb::ndarray<nb::numpy, double, nb::ndim<2>>(memory, 2, shape, owner, strides)),
          memory, rows, columns};
}

/// A function of Python, called by threads that have no GIL. Everything here is touched with it alone.
class Function {
 public:
  explicit Function(PythonField field)
      : field_(std::move(field)),
        points_(nb::module_::import_("sfumato._callables").attr("points")) {}
  Function(const Function&) = delete;
  Function& operator=(const Function&) = delete;
  ~Function() {
    nb::gil_scoped_acquire gil;
    field_.function.reset();
    points_.reset();
    free_.clear();
  }

  void operator()(double time, const ConstPoints& at, MutablePoints out) {
    thread_local const ThreadState state;
    nb::gil_scoped_acquire gil;
    Argument argument = take(at.rows(), at.cols());
    for (Eigen::Index column = 0; column < at.cols(); ++column) {
      std::copy_n(at.col(column).data(), at.rows(), argument.memory + column * at.rows());
    }
    {
      const nb::object values =
          field_.timed ? field_.function(time, argument.array) : field_.function(argument.array);
      // A plain array of NumPy, or whatever NumPy makes an array of: of JAX, PyTorch, a list.
      if (!values.type().is(argument.array.type()) || !copy(values, out)) {
        const nb::object array = points_(values, out.rows(), out.cols(), field_.name);
        if (!copy(array, out)) throw nb::type_error("points() returned no array of doubles");
      }
    }
    refuse_nan(at, out);
    // An array that nobody else holds serves for the next points. One that the function has kept, or that a library
    // still reads (JAX may do so after returning), is its own from now on.
    if (Py_REFCNT(argument.array.ptr()) == 1) free_.push_back(std::move(argument));
  }

 private:
  Argument take(Eigen::Index rows, Eigen::Index columns) {
    const auto at = std::find_if(free_.begin(), free_.end(), [&](const Argument& argument) {
      return argument.rows == rows && argument.columns == columns;
    });
    if (at == free_.end()) return new_argument(rows, columns);
    Argument argument = std::move(*at);
    free_.erase(at);
    return argument;
  }

  /// NaN where all coordinates are numbers is a mistake of the function; where a path has left the numbers, it is not. No
  /// Error of the library, which takes those of its methods for reasons why a method does not apply.
  void refuse_nan(const ConstPoints& at, const MutablePoints& out) const {
    for (Eigen::Index column = 0; column < out.cols(); ++column) {
      for (Eigen::Index row = 0; row < out.rows(); ++row) {
        if (!std::isnan(out(row, column)) || !at.row(row).allFinite()) continue;
        std::string point;
        for (Eigen::Index i = 0; i < at.cols() && i < 4; ++i) {
          point += fmt::format("{}{:.6g}", i > 0 ? ", " : "", at(row, i));
        }
        throw nb::value_error(
            fmt::format(
                "{}: the function returns NaN at x = ({}{}). Return a number for every point.",
                field_.name, point, at.cols() > 4 ? ", ..." : "")
                .c_str());
      }
    }
  }

  /// False if the values are no array of doubles of that shape.
  static bool copy(const nb::object& values, MutablePoints out) {
    Py_buffer buffer;
    if (PyObject_GetBuffer(values.ptr(), &buffer, PyBUF_STRIDES | PyBUF_FORMAT) != 0) {
      PyErr_Clear();
      return false;
    }
    const bool fits = buffer.ndim == 2 && buffer.format != nullptr &&
                      std::strcmp(buffer.format, "d") == 0 && buffer.shape[0] == out.rows() &&
                      buffer.shape[1] == out.cols();
    if (fits) {
      const auto* from = static_cast<const char*>(buffer.buf);
      for (Eigen::Index column = 0; column < out.cols(); ++column) {
        double* to = out.col(column).data();
        const char* first = from + column * buffer.strides[1];
        for (Eigen::Index row = 0; row < out.rows(); ++row) {
          std::memcpy(to + row, first + row * buffer.strides[0], sizeof(double));
        }
      }
    }
    PyBuffer_Release(&buffer);
    return fits;
  }

  PythonField field_;
  nb::object points_;
  std::vector<Argument> free_;  ///< arguments that nobody holds
};

Field field_of(const PythonField& field) {
  return [function = std::make_shared<Function>(field)](
             double time, const ConstPoints& at, MutablePoints out) { (*function)(time, at, out); };
}

}  // namespace

void replace_by(const PythonSide& side, Diffusion& diffusion, std::string& kind) {
  if (!side.drift.function.is_none()) {
    diffusion.drift = field_of(side.drift);
    kind = "drift by a Python function";
  }
  if (!side.variances.function.is_none()) {
    diffusion.noise = DiagonalNoise{field_of(side.variances), field_of(side.divergence)};
  }
  diffusion.autonomous = !side.drift.timed && !side.variances.timed && !side.divergence.timed;
}

}  // namespace sfumato::python
