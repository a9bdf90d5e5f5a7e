// distributions/distributions.cpp: how well can an observer tell two normal distributions apart?
#include <cstdio>

#include "sfumato/risk/risk.hpp"
#include "sfumato/sde/gaussian_distribution.hpp"

int main() {
  const sfumato::GaussianDistribution d{Eigen::VectorXd::Zero(2), sfumato::Isotropic{1.0, 2}};
  const sfumato::GaussianDistribution d_prime{Eigen::VectorXd::Ones(2), sfumato::Isotropic{2.0, 2}};
  const sfumato::Risk risk = sfumato::Risk::exact(sfumato::whiten(d, d_prime));

  for (const sfumato::Direction direction : sfumato::kDirections) {
    const auto kl = risk.kl(direction);
    std::printf("KL(%s) %s %.9f nats\n", name(direction).data(), symbol(kl.claim).data(),
                kl.value.value());
  }
  const auto advantage = risk.advantage();
  std::printf("advantage %s %.9f\n", symbol(advantage.claim).data(), advantage.value);
}
