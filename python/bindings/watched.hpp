#pragma once

#include <functional>

#include "bindings.hpp"
#include "sfumato/core/observer.hpp"

namespace sfumato::python {

/// Runs `work` in a thread of its own, without the GIL, while the calling thread looks for Ctrl-C and calls
/// `progress(stage, done, total)` from time to time (None: nobody). What Python raises meanwhile, KeyboardInterrupt
/// first of all, asks the work to stop and is raised when it has.
///
/// Throws   what `work` throws, or else what Python raised.
void watched(nb::handle progress, const std::function<void(Observer&)>& work);

}  // namespace sfumato::python
