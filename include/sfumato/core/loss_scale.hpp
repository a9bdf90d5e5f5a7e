#pragma once

namespace sfumato {

/// How the losses of the rows are put together; explicit, because it rescales gradients, noise and time
/// (Spec §1.7).
enum class LossScale { sum, mean };

}  // namespace sfumato
