#pragma once

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "lab/nn/exact_products.hpp"
#include "lab/nn/network.hpp"
#include "sfumato/core/overloaded.hpp"

namespace sfumato::lab {

/// Loss and gradient of one record by backpropagation, written once for double and for Dual (where
/// it also differentiates along the direction that the tangents of its inputs give). No tricks: this
/// is what the fast engine is compared with. Internal to `nn`; sizes are the callers' to check.
///
/// Conventions, the usual ones of deep-learning libraries: ReLU has derivative 0 at 0; of equal
/// pixels in a window the first, row by row, is the maximum.
template <class T>
class ExactBackprop {
 public:
  /// Keeps references to both arguments.
  ExactBackprop(const Network& network, std::span<const T> parameters)
      : network_(network), parameters_(parameters), outputs_(network.layers().size() + 1) {
    for (std::size_t i = 0; i < outputs_.size(); ++i) {
      outputs_[i].resize(i == 0 ? network.input().size() : network.after(i - 1).size());
    }
    winners_.resize(outputs_.size());
    for (const NamedLayer& layer : network.layers()) {
      std::vector<T>& matrix = maps_.emplace_back();
      const auto* map = std::get_if<FixedMap>(&layer.layer);
      if (map == nullptr) continue;
      for (const float weight : *map->matrix) matrix.emplace_back(static_cast<double>(weight));
    }
  }

  /// Softmax cross-entropy  sum_c target_c (-log p_c)  of one record; stable for logits of any size.
  T loss(std::span<const T> values, std::span<const T> target) {
    std::copy(values.begin(), values.end(), outputs_.front().begin());
    for (std::size_t i = 0; i + 1 < outputs_.size(); ++i) forward(i);
    compare(target);
    T sum{};
    for (std::size_t c = 0; c < target.size(); ++c) sum += target[c] * surprise_[c];
    return sum;
  }

  /// Adds the gradient of the last loss() in the parameters to `gradient`, and, where `input_gradient`
  /// is not empty, the gradient in the record's values to it.
  void add_gradient(std::span<T> gradient, std::span<T> input_gradient) {
    std::vector<T> above = error_, below;
    const std::size_t first = network_.blocks().front().layer;
    for (std::size_t i = network_.layers().size(); i-- > 0;) {
      const bool needed = i > first || !input_gradient.empty();
      below.assign(needed ? outputs_[i].size() : 0, T{});
      backward(i, above, gradient, below);
      if (!needed) return;
      above.swap(below);
    }
    for (std::size_t j = 0; j < input_gradient.size(); ++j) input_gradient[j] += above[j];
  }

  [[nodiscard]] const std::vector<T>& logits() const { return outputs_.back(); }
  /// -log p_c of the last record: what the loss would be if its label were c.
  [[nodiscard]] const std::vector<T>& surprise() const { return surprise_; }
  /// Of layer i in the last record: where each output of a maximum comes from.
  [[nodiscard]] const std::vector<std::size_t>& winners(std::size_t i) const { return winners_[i]; }
  /// Of layer i in the last record.
  [[nodiscard]] const std::vector<T>& output(std::size_t i) const { return outputs_[i + 1]; }

 private:
  /// One use of the rows of a weight matrix: `count` numbers of the input from `input` on meet as
  /// many rows from `row` on, and their products go to the outputs from `output` on.
  struct Use {
    std::size_t input, row, count, output;
  };

  /// A convolution is a weight matrix (y, x, input channel) x output channel that slides over the
  /// image: for each output pixel and kernel line, the pixels under the line are side by side.
  template <class F>
  void each_use(std::size_t i, const Conv2d& conv, F&& f) const {
    const Shape &in = network_.before(i), &out = network_.after(i);
    for (int y = 0; y < out.height; ++y) {
      for (int x = 0; x < out.width; ++x) {
        const int left = x * conv.stride - conv.padding;
        const int skip = std::max(0, -left);
        const int stop = std::min(conv.kernel, in.width - left);
        if (stop <= skip) continue;  // the padding alone
        for (int line = 0; line < conv.kernel; ++line) {
          const int row = y * conv.stride - conv.padding + line;
          if (row < 0 || row >= in.height) continue;
          f(Use{at(row * in.width + left + skip, in.channels),
                at(line * conv.kernel + skip, in.channels), at(stop - skip, in.channels),
                at(y * out.width + x, out.channels)});
        }
      }
    }
  }
  static std::size_t at(int pixel, int channels) {
    return static_cast<std::size_t>(pixel) * static_cast<std::size_t>(channels);
  }

  /// f(index of an input pixel's channel, index of the output) for each pixel of each window.
  template <class F>
  void each_pooled(std::size_t i, int size, F&& f) const {
    const Shape &in = network_.before(i), &out = network_.after(i);
    for (int y = 0; y < out.height * size; ++y) {
      for (int x = 0; x < out.width * size; ++x) {
        const std::size_t from = at(y * in.width + x, in.channels);
        const std::size_t to = at((y / size) * out.width + x / size, out.channels);
        for (std::size_t c = 0; c < static_cast<std::size_t>(in.channels); ++c) f(from + c, to + c);
      }
    }
  }

  /// f of every use of a fixed map's matrix, a whole vector or the patches under its positions.
  template <class F>
  void each_mapped(std::size_t i, const FixedMap& map, F&& f) const {
    if (map.patches) {
      each_use(i, *map.patches, f);
    } else {
      f(Use{0, 0, network_.before(i).size(), 0});
    }
  }

  const ParameterBlock& block_of(std::size_t i) const {
    return *std::find_if(network_.blocks().begin(), network_.blocks().end(),
                         [i](const ParameterBlock& block) { return block.layer == i; });
  }

  void forward(std::size_t i) {
    const std::vector<T>& in = outputs_[i];
    std::vector<T>& out = outputs_[i + 1];
    const auto bias = [&](const ParameterBlock& block) {
      for (std::size_t j = 0; j < out.size(); ++j) {
        out[j] = parameters_[block.bias() + j % block.outputs];
      }
      return parameters_.data() + block.offset;
    };
    std::visit(
        Overloaded{[&](const Linear&) {
                     const ParameterBlock& block = block_of(i);
                     add_product(bias(block), block.inputs, block.outputs, in.data(), out.data());
                   },
                   [&](const Conv2d& conv) {
                     const ParameterBlock& block = block_of(i);
                     const T* weights = bias(block);
                     each_use(i, conv, [&](const Use& use) {
                       add_product(weights + use.row * block.outputs, use.count, block.outputs,
                                   in.data() + use.input, out.data() + use.output);
                     });
                   },
                   [&](const MaxPool2d& pool) {
                     constexpr std::size_t kNone = static_cast<std::size_t>(-1);
                     std::vector<std::size_t>& from = winners_[i];
                     from.assign(out.size(), kNone);
                     each_pooled(i, pool.size, [&](std::size_t source, std::size_t target) {
                       if (from[target] == kNone || value_of(in[source]) > value_of(out[target])) {
                         from[target] = source;
                         out[target] = in[source];
                       }
                     });
                   },
                   [&](const AvgPool2d& pool) {
                     std::fill(out.begin(), out.end(), T{});
                     const T share = 1.0 / (pool.size * pool.size);
                     each_pooled(i, pool.size, [&](std::size_t source, std::size_t target) {
                       out[target] += share * in[source];
                     });
                   },
                   [&](const Relu&) {
                     for (std::size_t j = 0; j < in.size(); ++j) {
                       // NaN goes through, so that a run that has diverged shows it.
                       out[j] = value_of(in[j]) <= 0.0 ? T{} : in[j];
                     }
                   },
                   [&](const Tanh&) {
                     using std::tanh;
                     for (std::size_t j = 0; j < in.size(); ++j) out[j] = tanh(in[j]);
                   },
                   [&](const Sigmoid&) {
                     using std::tanh;
                     for (std::size_t j = 0; j < in.size(); ++j) {
                       out[j] = T(0.5) + T(0.5) * tanh(T(0.5) * in[j]);
                     }
                   },
                   [&](const FixedMap& map) {
                     std::fill(out.begin(), out.end(), T{});
                     const auto columns = static_cast<std::size_t>(network_.after(i).channels);
                     each_mapped(i, map, [&](const Use& use) {
                       add_product(maps_[i].data() + use.row * columns, use.count, columns,
                                   in.data() + use.input, out.data() + use.output);
                     });
                   },
                   [&](const Flatten&) { out = in; }},
        network_.layers()[i].layer);
  }

  /// From the gradient in layer i's output to that in its parameters and, if `below` has room, in
  /// its input.
  void backward(std::size_t i, const std::vector<T>& above, std::span<T> gradient,
                std::vector<T>& below) {
    const std::vector<T>&in = outputs_[i], &out = outputs_[i + 1];
    const auto add_bias = [&](const ParameterBlock& block) {
      for (std::size_t j = 0; j < above.size(); ++j) {
        gradient[block.bias() + j % block.outputs] += above[j];
      }
    };
    const auto add_use = [&](const ParameterBlock& block, const Use& use) {
      const std::size_t weight = block.offset + use.row * block.outputs;
      const T* error = above.data() + use.output;
      add_outer(in.data() + use.input, use.count, error, block.outputs, gradient.data() + weight);
      if (below.empty()) return;
      add_transposed_product(parameters_.data() + weight, use.count, block.outputs, error,
                             below.data() + use.input);
    };
    std::visit(Overloaded{[&](const Linear&) {
                            const ParameterBlock& block = block_of(i);
                            add_bias(block);
                            add_use(block, {0, 0, block.inputs, 0});
                          },
                          [&](const Conv2d& conv) {
                            const ParameterBlock& block = block_of(i);
                            add_bias(block);
                            each_use(i, conv, [&](const Use& use) { add_use(block, use); });
                          },
                          [&](const MaxPool2d&) {
                            if (below.empty()) return;
                            for (std::size_t j = 0; j < above.size(); ++j) {
                              below[winners_[i][j]] += above[j];
                            }
                          },
                          [&](const AvgPool2d& pool) {
                            if (below.empty()) return;
                            const T share = 1.0 / (pool.size * pool.size);
                            each_pooled(i, pool.size, [&](std::size_t source, std::size_t target) {
                              below[source] += share * above[target];
                            });
                          },
                          [&](const Relu&) {
                            for (std::size_t j = 0; j < below.size(); ++j) {
                              if (!(value_of(in[j]) <= 0.0)) below[j] = above[j];
                            }
                          },
                          [&](const Tanh&) {
                            for (std::size_t j = 0; j < below.size(); ++j) {
                              below[j] = above[j] * (T(1.0) - out[j] * out[j]);
                            }
                          },
                          [&](const Sigmoid&) {
                            for (std::size_t j = 0; j < below.size(); ++j) {
                              below[j] = above[j] * out[j] * (T(1.0) - out[j]);
                            }
                          },
                          [&](const FixedMap& map) {
                            if (below.empty()) return;
                            const auto columns =
                                static_cast<std::size_t>(network_.after(i).channels);
                            each_mapped(i, map, [&](const Use& use) {
                              add_transposed_product(maps_[i].data() + use.row * columns, use.count,
                                                     columns, above.data() + use.output,
                                                     below.data() + use.input);
                            });
                          },
                          [&](const Flatten&) {
                            if (!below.empty()) below = above;
                          }},
               network_.layers()[i].layer);
  }

  /// -log p_c, and the gradient of the loss in the logits, from the last logits.
  void compare(std::span<const T> target) {
    using std::exp, std::log1p;
    const std::vector<T>& z = logits();
    const std::size_t classes = z.size();
    std::size_t top = 0;
    for (std::size_t c = 1; c < classes; ++c) {
      if (value_of(z[c]) > value_of(z[top])) top = c;
    }
    // Relative to the largest: no overflow, and with that one apart from the sum of the others no
    // digits are lost when a record is nearly certain.
    std::vector<T> weight(classes);
    T others{};
    for (std::size_t c = 0; c < classes; ++c) {
      weight[c] = exp(z[c] - z[top]);
      if (c != top) others += weight[c];
    }
    const T total = T(1.0) + others;
    surprise_.resize(classes);
    error_.resize(classes);
    T mass{};
    for (const T& share : target) mass += share;
    for (std::size_t c = 0; c < classes; ++c) {
      surprise_[c] = log1p(others) - (z[c] - z[top]);
      const T p = weight[c] / total;
      const T complement = c == top ? others / total : T(1.0) - p;
      error_[c] = (mass - target[c]) * p - target[c] * complement;
    }
  }

  const Network& network_;
  std::span<const T> parameters_;
  std::vector<std::vector<T>> outputs_;            ///< 0: the record; i + 1: of layer i
  std::vector<std::vector<std::size_t>> winners_;  ///< of maximum pools, by layer
  std::vector<std::vector<T>> maps_;               ///< of fixed maps, by layer
  std::vector<T> surprise_, error_;
};

}  // namespace sfumato::lab
