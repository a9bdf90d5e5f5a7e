// How well can an observer tell two normal laws apart? Uses the installed library.
#include <Eigen/Core>
#include <cstdio>

#include "sfumato/divergence/gaussian_hockey_stick.hpp"
#include "sfumato/divergence/gaussian_kl.hpp"
#include "sfumato/math/covariance.hpp"
#include "sfumato/math/whitened_pair.hpp"

int main() {
  const Eigen::VectorXd mean_p = Eigen::VectorXd::Zero(2);
  const Eigen::VectorXd mean_q = Eigen::VectorXd::Ones(2);
  const sfumato::WhitenedPair pair =
      sfumato::whiten(mean_p, sfumato::Isotropic{1.0, 2}, mean_q, sfumato::Isotropic{2.0, 2});

  const auto kl_pq = sfumato::gaussian_kl(pair);
  const auto kl_qp = sfumato::gaussian_kl(sfumato::swapped(pair));
  const auto tv = sfumato::gaussian_total_variation(pair);
  std::printf("KL(P||Q) %s %.9f nats\n", symbol(kl_pq.claim).data(), kl_pq.value.value());
  std::printf("KL(Q||P) %s %.9f nats\n", symbol(kl_qp.claim).data(), kl_qp.value.value());
  std::printf("TV       %s %.9f\n", symbol(tv.claim).data(), tv.value);
}
