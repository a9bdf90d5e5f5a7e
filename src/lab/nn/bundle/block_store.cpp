#include "lab/nn/bundle/block_store.hpp"

#include <utility>

#include "lab/nn/kernel/matrix.hpp"

namespace sfumato::lab {

BlockStore::BlockStore(const ParameterBlock& of, std::size_t side_by_side, std::size_t matrices)
    : block(of),
      models(side_by_side),
      copies(matrices),
      columns(kernel::padded(of.outputs * side_by_side)),
      values(matrices * (of.inputs + 1) * columns),
      gradient(matrices * (of.inputs + 1) * columns) {}

void BlockStore::add_to_total(bool first) {
  if (first) {
    total.require(gradient.size());
    std::swap(total, gradient);
    return;
  }
  for (std::size_t i = 0; i < gradient.size(); ++i) total.data()[i] += gradient.data()[i];
}

void BlockStore::add_to_clipped_total(bool first) {
  if (first) clipped_total.assign(gradient.size(), 0.0);
  for (std::size_t i = 0; i < gradient.size(); ++i) {
    clipped_total[i] += static_cast<double>(gradient.data()[i]);
  }
}

void BlockStore::take_clipped_total() {
  for (std::size_t i = 0; i < gradient.size(); ++i) {
    gradient.data()[i] = static_cast<float>(clipped_total[i]);
  }
}

}  // namespace sfumato::lab
