// epsilon/epsilon.cpp: what 1,000 steps of private training guarantee.
#include <cstdio>

#include "sfumato/account/accountant/accountant.hpp"

int main() {
  sfumato::Accountant accountant(sfumato::NeighbouringRelation::add_remove);
  accountant.compose({.mechanism = sfumato::GaussianNoise{1.1},
                      .sampler = sfumato::Sampler::poisson,
                      .sample_rate = 0.01,
                      .steps = 1000});
  const auto epsilon = accountant.epsilon(sfumato::Delta(1e-5));
  std::printf("%.4f <= epsilon <= %.4f\n", epsilon.lower.value, epsilon.upper.value);
}
