#pragma once

#include <Eigen/Core>
#include <Eigen/Householder>
#include <Eigen/QR>
#include <algorithm>

#include "sfumato/core/parallel.hpp"
#include "sfumato/sde/problem/given_loss.hpp"

namespace sfumato {

/// The first `columns` columns of `a` to R of their QR factorisation, in place and by Householder's reflections,
/// which are applied to the other columns as well. What is below the triangle is left undefined.
///
/// Cost     O(rows columns all), with a look at the observer after about a second of it at most.
/// Throws   Stopped if the observer asked to stop.
template <class T>
void triangularise(MatrixOf<T>& a, Eigen::Index columns, const Observer& observer) {
  using Eigen::Index;
  constexpr Index kPanel = 48;
  constexpr Index kProducts = sizeof(T) > sizeof(double) ? 100'000'000 : 1'000'000'000;
  const Index steps = std::min(columns, a.rows());
  for (Index first = 0; first < steps; first += kPanel) {
    throw_if_stopped(observer);
    const Index width = std::min(kPanel, steps - first);
    const Index height = a.rows() - first;
    Eigen::Ref<MatrixOf<T>> panel = a.block(first, first, height, width);
    const Eigen::HouseholderQR<Eigen::Ref<MatrixOf<T>>> qr(panel);
    const Index together = std::max<Index>(128, kProducts / (2 * height * width));
    for (Index next = first + width; next < a.cols(); next += together) {
      throw_if_stopped(observer);
      auto rest = a.block(first, next, height, std::min(together, a.cols() - next));
      rest.applyOnTheLeft(qr.householderQ().adjoint());
    }
  }
}

}  // namespace sfumato
