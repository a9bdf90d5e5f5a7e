#include "sfumato/math/precision.hpp"
#include "sfumato/math/symmetric_eigen_of.hpp"

namespace sfumato {

template class SymmetricEigenOf<Wide>;
template class SymmetricEigenOf<Widest>;

}  // namespace sfumato
